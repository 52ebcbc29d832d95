"""Labels beside points hide neither each other nor the points."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from programs.report.label_placement import Box, Label, bar_boxes, place_labels

NAMES = ("Vanilla RAG", "ReAct", "Self-RAG", "GraphRAG", "DOSRAG", "RAPTOR", "MemoRAG", "HippoRAG2", "StateRAG")


def overlap(one: Box, other: Box) -> bool:
    across = min(one.right, other.right) > max(one.left, other.left)
    return across and min(one.top, other.top) > max(one.bottom, other.bottom)


def placed(points: list[tuple[float, float]]) -> tuple[list[Box], Box]:
    figure = Figure(figsize=(3.4, 2.7), dpi=100)
    axes = figure.add_axes((0.15, 0.15, 0.8, 0.8))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    labels = [Label(NAMES[i % len(NAMES)], x, y, "black") for i, (x, y) in enumerate(points)]
    frame = axes.get_window_extent()
    return place_labels(figure, axes, labels), Box(*(value * 0.72 for value in frame.extents))


@pytest.mark.parametrize(
    "points",
    [
        [(0.5, 0.5)],
        [(0.02, 0.02), (0.98, 0.98), (0.02, 0.98), (0.98, 0.02)],
        [(0.4 + 0.03 * i, 0.5) for i in range(6)],
        [(0.5, 0.3 + 0.04 * i) for i in range(9)],
        [(0.5, 0.5)] * 9,
        [(1.0, 1.0)] * 4,
    ],
)
def test_labels_do_not_overlap_and_stay_inside(points):
    boxes, frame = placed(points)
    for i, box in enumerate(boxes):
        assert box.left >= frame.left - 1
        assert box.bottom >= frame.bottom - 1
        assert box.right <= frame.right + 1
        assert box.top <= frame.top + 1
        assert not any(overlap(box, other) for other in boxes[i + 1 :])


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95)), min_size=1, max_size=5, unique=True))
def test_a_handful_of_labels_never_overlaps(points):
    boxes, _ = placed(points)
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_the_same_points_have_the_same_labels_every_time():
    points = [(0.4 + 0.03 * i, 0.5) for i in range(6)]
    assert placed(points)[0] == placed(points)[0]


def test_a_label_keeps_off_a_bar():
    figure = Figure(figsize=(3.4, 2.7), dpi=100)
    axes = figure.add_axes((0.15, 0.15, 0.8, 0.8))
    bar = bar_boxes(figure, axes, [((0.5, 0.5), (1.0, 0.5))])
    [box] = place_labels(figure, axes, [Label("StateRAG", 0.5, 0.5, "black")], bar)
    assert not any(box.left < part.left < box.right and box.bottom < part.bottom < box.top for part in bar)
