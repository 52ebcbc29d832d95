"""Every figure of results at the edges can be read: nothing is cut, covered, explained in vain or empty."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from programs.report.component_figures import funnel_figure, profile_figure
from programs.report.figure_style import style
from programs.report.figures import evidence_figure, panels, quality_figure
from programs.report.label_placement import MARKER
from programs.report.results import Results
from tests.report.edge_cases import CASES, FUNNELS

DRAWERS = {"quality": quality_figure, "components": profile_figure, "evidence": evidence_figure}
TOUCHING = 0.5
"""Pixels by which rounding may make neighbours overlap."""


@pytest.fixture(scope="module", params=[*CASES, *(f"funnel {name}" for name in FUNNELS)])
def figures(request) -> dict[str, Figure]:
    """The figures of a case, laid out."""
    with style():
        if request.param in CASES:
            results = Results(CASES[request.param]())
            drawn = {name: draw(results) for name, draw in DRAWERS.items()}
        else:
            drawn = {"funnel": funnel_figure(FUNNELS[request.param.removeprefix("funnel ")]())}
        found = {name: figure for name, figure in drawn.items() if figure is not None}
        for figure in found.values():
            figure.draw_without_rendering()
        yield found


def texts(figure: Figure) -> dict[str, Bbox]:
    """Give what is written in a figure, with its place in pixels."""
    written: list[Text] = [text for legend in figure.legends for text in legend.get_texts()]
    for axes in figure.axes:
        legend = axes.get_legend()
        written += [*axes.texts, *(legend.get_texts() if legend else ())]
        written += [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, *tick_labels(axes)]
    shown = [text for text in written if text.get_text().strip() and text.get_visible()]
    return {f"{at} {text.get_text()}": text.get_window_extent() for at, text in enumerate(shown)}


def tick_labels(axes: Axes) -> list[Text]:
    """Give the labels of ticks that are in view."""
    found = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        found += [tick.label1 for tick in axis.get_major_ticks() if low - 1e-9 <= tick.get_loc() <= high + 1e-9]
    return found


def markers(axes: Axes) -> list[Line2D]:
    return [line for line in axes.lines if line.get_marker() not in ("", "None", None)]


def places(axes: Axes) -> list[tuple[float, float]]:
    """Give where the markers are, in pixels."""
    return [tuple(axes.transData.transform(point)) for line in markers(axes) for point in line.get_xydata()]


def test_no_text_leaves_its_figure(figures):
    for name, figure in figures.items():
        for text, box in texts(figure).items():
            assert min(box.x0, box.y0) >= -TOUCHING, (name, text, box)
            assert box.x1 <= figure.bbox.x1 + TOUCHING, (name, text, box)
            assert box.y1 <= figure.bbox.y1 + TOUCHING, (name, text, box)


def test_no_two_texts_overlap(figures):
    for name, figure in figures.items():
        for (one, a), (other, b) in combinations(texts(figure).items(), 2):
            across = min(a.x1, b.x1) - max(a.x0, b.x0)
            up = min(a.y1, b.y1) - max(a.y0, b.y0)
            assert across <= TOUCHING or up <= TOUCHING, (name, one, other)


def test_no_text_lies_on_a_marker(figures):
    for name, figure in figures.items():
        reach = 0.8 * MARKER * figure.dpi / 72
        written = texts(figure)
        for axes in figure.axes:
            for x, y in places(axes):
                for text, box in written.items():
                    off = x + reach < box.x0 or x - reach > box.x1 or y + reach < box.y0 or y - reach > box.y1
                    assert off, (name, text, (x, y))


def test_markers_are_whole(figures):
    for figure in figures.values():
        for axes in figure.axes:
            assert not any(line.get_clip_on() for line in markers(axes))
            reach = MARKER * figure.dpi / 72
            for x, y in places(axes):
                assert reach <= x <= figure.bbox.x1 - reach
                assert reach <= y <= figure.bbox.y1 - reach


def test_axes_hold_data_and_begin_at_nought_or_above(figures):
    for name, figure in figures.items():
        for axes in figure.axes:
            assert axes.has_data(), name
            assert name == "components" or axes.get_xlim()[0] >= 0
            if name == "quality":
                assert axes.get_ylim()[0] >= 0
                assert axes.get_ylim()[1] <= 1.05
                assert axes.get_ylim()[1] - axes.get_ylim()[0] >= 0.0999
            ticks = [label.get_text() for label in tick_labels(axes)]
            assert not any(tick.startswith("−") for tick in ticks), (name, ticks)


def test_every_bar_of_an_interval_is_within_its_axes(figures):
    figure = figures.get("quality")
    for axes in figure.axes if figure else ():
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        for lines in axes.collections:
            for x, y in (point for segment in lines.get_segments() for point in segment):
                assert left <= x <= right
                assert low <= y <= high


def test_an_axis_is_logarithmic_only_where_values_lie_far_apart(figures):
    for figure in figures.values():
        for axes in figure.axes:
            if axes.get_xscale() == "log":
                across = [x for line in markers(axes) for x in line.get_xdata()]
                across += [bar.get_width() for bar in axes.patches]
                assert max(across) > 5 * min(across)


def test_a_legend_explains_what_is_drawn_and_nothing_else(figures):
    for figure in figures.values():
        legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
        assert all(legend.get_texts() for legend in legends)
        drawn = {bar.get_facecolor() for axes in figure.axes for bar in axes.patches if bar.get_width() > 0}
        assert {patch.get_facecolor() for legend in legends for patch in legend.get_patches()} <= drawn


def test_the_dashes_and_intervals_of_quality_are_explained_where_there_are_any(figures):
    for figure in [figures["quality"]] if "quality" in figures else []:
        named = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
        dashed = any(line.is_dashed() for axes in figure.axes for line in axes.lines)
        assert ("Not beaten in both" in named) == dashed
        bars = [bar for axes in figure.axes for lines in axes.collections for bar in lines.get_segments()]
        assert ("95% interval" in named) == any(math.dist(*bar) > 0 for bar in bars)


def test_every_method_has_its_own_mark_and_name(figures):
    figure = figures.get("quality")
    for axes in figure.axes if figure else ():
        assert len(axes.texts) == len(places(axes)) == len({text.get_text() for text in axes.texts})


def test_names_that_are_shortened_to_the_same_have_a_bar_each():
    with style():
        figure = profile_figure(Results(CASES["long-names"]()))
    assert len(figure.axes[0].patches) == 3


def test_equal_points_are_all_drawn():
    [panel] = panels(Results(CASES["all-equal"]()))
    assert len(panel.points) == 5
