"""How figures look: sizes for a paper's columns, colours that everyone can tell apart, and labels that can be read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import Bbox

from programs.atomic import writing
from programs.report.console import snippet
from programs.report.names import is_staterag, is_variant, method_label

VERMILLION, BLUE, ORANGE, GREY = "#D55E00", "#0072B2", "#E69F00", "#7F7F7F"
"""Of Okabe and Ito's palette, which holds for every common kind of colour blindness; they also differ in lightness."""
FULL_WIDTH, COLUMN_WIDTH = 7.0, 3.4
"""Inches: both columns of a paper, and one."""
LONGEST_NAME = 28
GRID = "#E6E6E6"
MARKER = 4.0
"""Points around the middle of a marker that a label keeps off."""
LEADER = 8.0
"""Points beyond which a label gets a line to its point."""
BAR_STEP = 6.0
"""Points between two places of a bar that labels keep off."""
FORCES = (0.3, 0.5, 0.8)
"""How hard labels push each other, from the first attempt at placing them to the last."""
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
    return snippet(method_label(method), LONGEST_NAME)


@contextmanager
def style() -> Iterator[None]:
    """Draw and save within this. A letter that the font lacks is a box, not a warning."""
    with matplotlib.rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


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


class Box(NamedTuple):
    """A rectangle in points, which are 1/72 inch, from the figure's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True)
class Label:
    """A text for a point of the data, and how it is written."""

    text: str
    x: float
    y: float
    colour: str
    weight: str = "normal"


def place_labels(figure: Figure, axes: Axes, labels: Sequence[Label], obstacles: Sequence[Box] = ()) -> list[Box]:
    """Write labels beside their points, off each other, the points and obstacles; give where they are.

    Everything else must be drawn, the layout settled and the limits of the axes set before. The forces that part the
    labels are drawn up again, stronger, until no two overlap.
    """
    from adjustText import adjust_text

    markers = [_around(*_in_points(figure, axes, label.x, label.y), MARKER) for label in labels]
    avoided = [_in_data(figure, axes, box) for box in (*markers, *obstacles)]
    boxes: list[Box] = []
    for force in FORCES:
        texts = [_written(axes, label) for label in labels]
        _, leaders = adjust_text(
            texts,
            objects=avoided,
            ax=axes,
            expand=(1.08, 1.25),
            force_text=(force, 1.5 * force),
            force_static=(0.7 * force, force),
            force_pull=(0.02, 0.02),
            prevent_crossings=False,
            iter_lim=500,  # and no limit of time, which would make the places depend on the machine
            min_arrow_len=LEADER * figure.dpi / 72,
            arrowprops={"arrowstyle": "-", "color": "#A6A6A6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3},
        )
        boxes = [_box(figure, text) for text in texts]
        if force == FORCES[-1] or not any(overlap(*pair) for pair in combinations(boxes, 2)):
            break
        for drawn in (*texts, *leaders):
            drawn.remove()
    return boxes


def bar_boxes(figure: Figure, axes: Axes, ends: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> list[Box]:
    """Cover thin straight bars between points of the data with rectangles, as obstacles."""
    boxes = []
    for pair in ends:
        start, end = (_in_points(figure, axes, *point) for point in pair)
        steps = max(1, round(math.dist(start, end) / BAR_STEP))
        for share in np.linspace(0, 1, steps + 1):
            x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            boxes.append(_around(x, y, 0.0))
    return boxes


def overlap(one: Box, other: Box) -> bool:
    """Tell whether two rectangles have more than an edge in common."""
    across = min(one.right, other.right) > max(one.left, other.left)
    return across and min(one.top, other.top) > max(one.bottom, other.bottom)


def _written(axes: Axes, label: Label) -> Text:
    return axes.text(
        label.x,
        label.y,
        label.text,
        ha="center",
        va="center",
        fontsize=7.0,
        color=label.colour,
        fontweight=label.weight,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        zorder=5,
    )


def _around(x: float, y: float, reach: float) -> Box:
    return Box(x - reach, y - reach, x + reach, y + reach)


def _box(figure: Figure, text: Text) -> Box:
    extent, scale = text.get_window_extent(), 72 / figure.dpi
    return Box(extent.x0 * scale, extent.y0 * scale, extent.x1 * scale, extent.y1 * scale)


def _in_points(figure: Figure, axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y))
    return across * 72 / figure.dpi, up * 72 / figure.dpi


def _in_data(figure: Figure, axes: Axes, box: Box) -> Bbox:
    """Give a rectangle in the data's coordinates, which is where adjustText looks for what it has to avoid."""
    corners = np.reshape(box, (2, 2)) * figure.dpi / 72
    return Bbox(axes.transData.inverted().transform(corners))
