"""Labels beside points, off each other and off what is drawn, and the same ones for the same points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from numpy.typing import NDArray

MARKER = 3.5
"""Points around the middle of a marker that a label keeps off."""
GAPS = (1.0, 4.0, 8.0, 13.0, 19.0, 26.0, 34.0, 44.0, 56.0)
"""Points between a marker and its label, in the places that are tried."""
DIRECTIONS = 24
APART = 0.7
"""Points around a label that others keep off."""
LEADER = 6.0
"""Points between a marker and its label beyond which they are joined by a line."""
BAR_STEP = 2.0
"""Points between two places of a bar that labels keep off."""
ON_LABEL, ON_MARKER, ON_BAR, FAR = 50.0, 20.0, 1.5, 1.0
"""What a label's place costs: by square points on another label, on a marker and on a bar, and by points of gap."""
SWEEPS = 20
"""How often each label may move again after the others have moved, at most."""


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

    Everything else must be drawn, the layout settled and the limits of the axes set before. Labels are
    written in the cheapest of the places around their points.
    """
    texts = [_written(axes, label) for label in labels]
    points = [_in_points(figure, axes, label.x, label.y) for label in labels]
    frame = _extent(figure, axes)
    markers, bars = _rows([_around(*point, MARKER) for point in points]), _rows(obstacles)
    places, costs = [], []
    for text, point in zip(texts, points, strict=True):
        boxes, gaps = _places(_extent(figure, text), point, frame)
        places.append(boxes)
        costs.append(FAR * gaps + ON_MARKER * shared_area(boxes, markers) + ON_BAR * shared_area(boxes, bars))
    chosen = _settled(places, costs)
    found = [Box(*map(float, boxes[at])) for boxes, at in zip(places, chosen, strict=True)]
    for text, label, point, box in zip(texts, labels, points, found, strict=True):
        text.set_position(_in_data(figure, axes, (box.left + box.right) / 2, (box.bottom + box.top) / 2))
        _lead(figure, axes, label, point, box)
    return found


def shared_area(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give how much of each rectangle lies on some others, summed over them."""
    one, other = boxes[:, None, :], others[None, :, :]
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    area: NDArray[np.float64] = np.maximum(sides, 0.0).prod(axis=2).sum(axis=1)
    return area


def bar_boxes(figure: Figure, axes: Axes, ends: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> list[Box]:
    """Cover thin straight bars between points of the data with rectangles, as obstacles."""
    boxes = []
    for pair in ends:
        start, end = (_in_points(figure, axes, *point) for point in pair)
        steps = max(1, round(math.dist(start, end) / BAR_STEP))
        for share in np.linspace(0, 1, steps + 1):
            x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            boxes.append(_around(x, y, BAR_STEP / 2))
    return boxes


def _settled(places: Sequence[NDArray[np.float64]], costs: Sequence[NDArray[np.float64]]) -> list[int]:
    """Choose a place for each label by what it costs alone, then again beside the others until none moves."""
    chosen = [int(np.argmin(cost)) for cost in costs]
    for _ in range(SWEEPS):
        before = list(chosen)
        for at, (boxes, cost) in enumerate(zip(places, costs, strict=True)):
            others = _rows([places[other][chosen[other]] for other in range(len(places)) if other != at])
            chosen[at] = int(np.argmin(cost + ON_LABEL * shared_area(boxes, others)))
        if chosen == before:
            break
    return chosen


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


def _places(own: Box, point: tuple[float, float], frame: Box) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give where a label of this size may stand around its point within a frame, the nearest first, and its gaps."""
    half = np.array([own.right - own.left, own.top - own.bottom]) / 2 + APART
    turns = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    ways = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    touching = ways * np.min((half + MARKER) / np.maximum(np.abs(ways), 1e-9), axis=1, keepdims=True)
    middles = np.concatenate([np.array(point) + touching + ways * gap for gap in GAPS])
    lowest, highest = np.array(frame[:2]) + half, np.array(frame[2:]) - half
    kept = np.clip(middles, lowest, np.maximum(lowest, highest))
    gaps = np.linalg.norm(np.maximum(np.abs(kept - point) - half, 0.0), axis=1)
    return np.concatenate([kept - half, kept + half], axis=1), gaps


def _lead(figure: Figure, axes: Axes, label: Label, point: tuple[float, float], box: Box) -> None:
    """Join a label that stands away from its point with it."""
    nearest = float(np.clip(point[0], box.left, box.right)), float(np.clip(point[1], box.bottom, box.top))
    if math.dist(nearest, point) > MARKER + LEADER:
        across, up = zip((label.x, label.y), _in_data(figure, axes, *nearest), strict=True)
        axes.add_artist(Line2D(across, up, color="#A6A6A6", linewidth=0.5, zorder=2))


def _rows(boxes: Sequence[Sequence[float]] | Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def _extent(figure: Figure, drawn: Text | Axes) -> Box:
    return Box(*(float(value) * 72 / figure.dpi for value in drawn.get_window_extent().extents))


def _in_points(figure: Figure, axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y))
    return float(across) * 72 / figure.dpi, float(up) * 72 / figure.dpi


def _in_data(figure: Figure, axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.inverted().transform((x * figure.dpi / 72, y * figure.dpi / 72))
    return float(across), float(up)
