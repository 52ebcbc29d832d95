"""Labels beside points, where they hide neither each other nor a point.

Every label has a fixed set of places around its point. Each in turn takes the place that costs least, given where
the others are, until none wants to move: with a dozen points that is quick and always ends the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

DIRECTIONS = tuple(math.radians(angle) for angle in (0, 180, 90, 270, 45, 135, 225, 315, 22, 158, 202, 338))
DISTANCES = (5.0, 9.0, 14.0, 20.0, 28.0)
"""Points from a marker's middle to the nearest edge of its label."""
LEADER = 10.0
"""A label that is further away gets a line to its point."""
MARKER = 4.0
ROOM = 1.0
"""Points that a label keeps clear on every side."""
ROUNDS = 8
STEP = 1.5


@dataclass(frozen=True)
class Box:
    """A rectangle in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Give the area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)

    def gap(self, other: Box) -> float:
        """Give the distance between two rectangles."""
        across = max(self.left - other.right, other.left - self.right, 0.0)
        return math.hypot(across, max(self.bottom - other.top, other.bottom - self.top, 0.0))

    @property
    def area(self) -> float:
        """Give the whole area."""
        return (self.right - self.left) * (self.top - self.bottom)


@dataclass(frozen=True)
class Label:
    """A text for a point of the data, and how it is written."""

    text: str
    x: float
    y: float
    colour: str
    weight: str = "normal"


@dataclass(frozen=True)
class Place:
    """Where a label could be: its rectangle, its lower left corner from the point, and the line that leads there."""

    box: Box
    dx: float
    dy: float
    distance: float
    leader: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Scene:
    """What is drawn before the labels."""

    frame: Box
    markers: Sequence[Box]
    obstacles: Sequence[Box]

    def cost(self, place: Place, at: int) -> float:
        """Weigh what a place hides, how far it is from its point, and whether another point is nearer.

        Beside a point is better than above or below it, where the bars of intervals are.
        """
        box, others = place.box, [marker for i, marker in enumerate(self.markers) if i != at]
        cost = place.distance * (0.5 if abs(place.dx) > abs(place.dy) else 0.8)
        cost += 20 * (box.area - box.overlap(self.frame))
        cost += 10 * sum(box.overlap(marker) for marker in self.markers)
        cost += 2 * sum(box.overlap(obstacle) for obstacle in self.obstacles)
        if place.leader:
            return cost + 8 + 10 * sum(part.overlap(other) for part in place.leader for other in others)
        return cost + 12 * any(box.gap(other) < box.gap(self.markers[at]) for other in others)


def place_labels(figure: Figure, axes: Axes, labels: Sequence[Label], obstacles: Sequence[Box] = ()) -> list[Box]:
    """Write labels beside their points, off each other, the points and obstacles; give where they are.

    Everything else must be drawn, and the limits of the axes set, before.
    """
    points = [_in_points(figure, axes, label.x, label.y) for label in labels]
    extent, scale = axes.get_window_extent(), 72.0 / figure.dpi
    scene = Scene(
        Box(extent.x0 * scale, extent.y0 * scale, extent.x1 * scale, extent.y1 * scale),
        [Box(x - MARKER, y - MARKER, x + MARKER, y + MARKER) for x, y in points],
        obstacles,
    )
    places = [_places(*point, *_size(figure, axes, label)) for point, label in zip(points, labels, strict=True)]
    chosen = _settle(places, [[scene.cost(place, at) for place in options] for at, options in enumerate(places)])
    for label, place in zip(labels, chosen, strict=True):
        _write(axes, label, place)
    return [place.box for place in chosen]


def bar_boxes(figure: Figure, axes: Axes, ends: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> list[Box]:
    """Cover thin straight bars between points of the data with rectangles, as obstacles."""
    lines = [[_in_points(figure, axes, *point) for point in pair] for pair in ends]
    return [box for start, end in lines for box in _cover(start, end)]


def _settle(places: Sequence[Sequence[Place]], costs: Sequence[Sequence[float]]) -> list[Place]:
    """Let each label take its cheapest place in turn, given where the others are."""
    chosen = [options[0] for options in places]
    for _ in range(ROUNDS):
        before = list(chosen)
        for at, options in enumerate(places):
            others = [place for i, place in enumerate(chosen) if i != at]
            total = [own + _in_the_way(place, others) for place, own in zip(options, costs[at], strict=True)]
            chosen[at] = options[total.index(min(total))]
        if chosen == before:
            break
    return chosen


def _in_the_way(place: Place, others: Sequence[Place]) -> float:
    """Weigh what a place has in common with other labels and their lines."""
    shared = sum(place.box.overlap(other.box) for other in others) * 20
    crossed = sum(part.overlap(other.box) for part in place.leader for other in others)
    return shared + 10 * (crossed + sum(part.overlap(place.box) for other in others for part in other.leader))


def _cover(start: tuple[float, float], end: tuple[float, float]) -> list[Box]:
    """Cover a straight line with small rectangles."""
    steps = max(1, round(math.dist(start, end) / STEP))
    boxes = []
    for step in range(steps + 1):
        x = start[0] + (end[0] - start[0]) * step / steps
        y = start[1] + (end[1] - start[1]) * step / steps
        boxes.append(Box(x - STEP / 2, y - STEP / 2, x + STEP / 2, y + STEP / 2))
    return boxes


def _places(x: float, y: float, width: float, height: float) -> list[Place]:
    places = []
    for distance in DISTANCES:
        for angle in DIRECTIONS:
            across, up = math.cos(angle), math.sin(angle)
            dx = across * distance + (across - 1) * width / 2
            dy = up * distance + (up - 1) * height / 2
            box = Box(x + dx - ROOM, y + dy - ROOM, x + dx + width + ROOM, y + dy + height + ROOM)
            middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
            leader = tuple(_cover((x, y), middle)) if distance > LEADER else ()
            places.append(Place(box, dx, dy, distance, leader))
    return places


def _write(axes: Axes, label: Label, place: Place) -> None:
    line = {"arrowstyle": "-", "color": "#A6A6A6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}
    axes.annotate(
        label.text,
        (label.x, label.y),
        xytext=(place.dx, place.dy),
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=7.0,
        color=label.colour,
        fontweight=label.weight,
        arrowprops=line if place.leader else None,
        annotation_clip=False,
        path_effects=[withStroke(linewidth=1.5, foreground="white")],
        zorder=5,
    )


def _size(figure: Figure, axes: Axes, label: Label) -> tuple[float, float]:
    text = axes.text(0, 0, label.text, fontsize=7.0, fontweight=label.weight)
    extent = text.get_window_extent()
    text.remove()
    return extent.width * 72 / figure.dpi, extent.height * 72 / figure.dpi


def _in_points(figure: Figure, axes: Axes, x: float, y: float) -> tuple[float, float]:
    across, up = axes.transData.transform((x, y))
    return across * 72 / figure.dpi, up * 72 / figure.dpi
