"""How figures look: sizes for a paper's columns, colours that everyone can tell apart, and axes that can be read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from programs.atomic import writing
from programs.report.console import snippet
from programs.report.names import is_staterag, is_variant, method_label

VERMILLION, BLUE, ORANGE, GREY = "#D55E00", "#0072B2", "#E69F00", "#7F7F7F"
"""Of Okabe and Ito's palette, which holds for every common kind of colour blindness; they also differ in lightness."""
FULL_WIDTH, COLUMN_WIDTH = 7.0, 3.4
"""Inches: both columns of a paper, and one."""
LONGEST_NAME = 28
GRID = "#E6E6E6"
WIDE = 5.0
"""How many times the least value the greatest must be for a logarithmic axis."""
LEAST_SPAN = 0.1
"""Of an axis of shares: thousandths that fill a page look like a difference."""
ROOM_ABOVE = 0.03
"""Of an axis of shares that ends at 1, in its spans: a marker at 1 is whole."""
RC: dict[Any, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "figure.dpi": 200.0,
    "savefig.dpi": 200.0,
    "svg.hashsalt": "staterag",
    "text.parse_math": False,
}
"""A dollar sign in a method's name is a dollar sign, and the same figure is the same file."""


@dataclass(frozen=True)
class Look:
    """A method's marker."""

    colour: str
    marker: str
    size: float
    weight: str


def look(method: str) -> Look:
    """Let StateRAG stand out by colour, shape, size and weight."""
    if is_staterag(method):
        return Look(VERMILLION, "D", 5.5, "bold")
    if is_variant(method):
        return Look(ORANGE, "s", 4.0, "normal")
    return Look(BLUE, "o", 4.0, "normal")


def name(method: str) -> str:
    """Call a method in a figure, where room is short."""
    return shortened(method_label(method))


def shortened(text: str, length: int = LONGEST_NAME) -> str:
    """Cut a long name in its middle, for names that begin alike are told apart by their ends."""
    whole = snippet(text, len(text))
    end = length // 2
    return whole if len(whole) <= length else f"{whole[: length - end - 1]}…{whole[-end:]}"


@contextmanager
def style() -> Iterator[None]:
    """Draw and save within this. A letter that the font lacks is a box, not a warning."""
    with matplotlib.rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def spread_wide(values: Sequence[float]) -> bool:
    """Tell whether values are so far apart that only a logarithmic axis shows them all."""
    return 0 < WIDE * min(values) < max(values)


def share_limits(low: float, high: float) -> tuple[float, float]:
    """Keep the limits of an axis of shares within 0 and 1, with room above for a marker, and apart."""
    bottom = max(0.0, min(low, high - LEAST_SPAN, 1.0 - LEAST_SPAN))
    return bottom, min(max(high, bottom + LEAST_SPAN), 1.0 + ROOM_ABOVE * (1.0 - bottom))


def log_ticks(axes: Axes, which: str) -> None:
    """Label a logarithmic axis with plain numbers, more of them where it spans little."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 200 else (1.0,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def short(value: float) -> str:
    """Write a round number with few letters: 0.5, 20, 10k, 1M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def grid(axes: Axes, which: Literal["both", "x", "y"] = "both") -> None:
    """Rule an axis faintly, below what is drawn."""
    axes.grid(axis=which, color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def save(figure: Figure, folder: Path, stem: str) -> list[Path]:
    """Write SVG and PNG. Neither holds a date."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}.{suffix}" for suffix in ("svg", "png")]
    for path in paths:
        with writing(path):
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths
