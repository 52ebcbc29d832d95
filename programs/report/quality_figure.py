"""Quality against latency: one point a method, and the frontier of those that no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from metrics.scores import METRICS
from metrics.significance import Interval
from programs.report.figure_style import COLUMN_WIDTH, FULL_WIDTH, GREY, log_ticks, look, name
from programs.report.label_placement import Label, bar_boxes, place_labels
from programs.report.names import DOCVQA, is_variant, workload_label
from programs.report.results import Results

QUALITY = ("f1", "passage_recall", "recall@5", "source_recall", "answer_in_evidence")
"""The first that two methods have is drawn: without a reader there is no answer, but there is evidence."""
MOST_PANELS = 6
DASHES = (0, (4, 2))


@dataclass(frozen=True)
class Point:
    """A method's operating point."""

    method: str
    quality: Interval
    latency: Interval


@dataclass(frozen=True)
class Panel:
    """One workload."""

    workload: str
    metric: str
    points: list[Point]


def quality_figure(results: Results) -> Figure | None:
    """Draw a panel for each workload on which at least two methods can be compared."""
    found = panels(results)
    if not found:
        return None
    columns = min(len(found), 2)
    rows = -(-len(found) // columns)
    size = (FULL_WIDTH if columns == 2 else COLUMN_WIDTH * 1.3, 2.7 * rows + 0.2)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    axes = [each for line in grid for each in line]
    for panel, each in zip(found, axes, strict=False):
        _draw_points(each, panel)
    for spare in axes[len(found) :]:
        spare.remove()
    bars = f"{results.level:.0%} interval"
    handles = [
        Line2D([], [], color=GREY, linestyle=DASHES, linewidth=0.8, label="Not beaten in both"),
        Line2D([], [], color=GREY, linewidth=0.5, marker="|", markersize=4, label=bars),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    figure.draw_without_rendering()  # settles the layout, which the labels' places depend on
    figure.set_layout_engine("none")
    for panel, each in zip(found, axes, strict=False):
        _draw_labels(figure, each, panel)
    return figure


def panels(results: Results) -> list[Panel]:
    """Choose workloads and metrics. StateRAG's variants are left out unless there is nothing else to compare."""
    methods = [method for method in results.methods if not is_variant(method)]
    chosen = methods if len(methods) > 1 else results.methods
    found = []
    for workload in results.summaries(chosen):
        for metric in ("anls", *QUALITY) if workload == DOCVQA else QUALITY:
            points = _points(results, chosen, workload, metric)
            if len(points) > 1:
                found.append(Panel(workload, metric, points))
                break
    return found[:MOST_PANELS]


def frontier(points: Sequence[Point]) -> list[Point]:
    """Give the points that no other beats in quality without being slower, from the fastest on."""
    best: list[Point] = []
    for point in sorted(points, key=lambda point: (point.latency.mean, -point.quality.mean)):
        if not best or point.quality.mean > best[-1].quality.mean:
            best.append(point)
    return best


def _points(results: Results, methods: Sequence[str], workload: str, metric: str) -> list[Point]:
    points = []
    for method in methods:
        quality = results.interval(method, workload, metric)
        latency = results.interval(method, workload, "latency")
        if quality is not None and latency is not None and latency.mean > 0:
            points.append(Point(method, quality, latency))
    return points


def _draw_points(axes: Axes, panel: Panel) -> None:
    edge = frontier(panel.points)
    across, up = [point.latency.mean for point in edge], [point.quality.mean for point in edge]
    axes.plot(across, up, color=GREY, linestyle=DASHES, linewidth=0.8, zorder=1)
    for point in panel.points:
        how = look(point.method)
        axes.errorbar(
            point.latency.mean,
            point.quality.mean,
            xerr=_reach(point.latency),
            yerr=_reach(point.quality),
            color=how.colour,
            marker=how.marker,
            markersize=how.size,
            elinewidth=0.5,
            ecolor=how.colour,
            zorder=3,
        )
    axes.set_xscale("log")
    axes.margins(x=0.16, y=0.12)
    axes.autoscale_view()
    log_ticks(axes, "x")
    axes.set_xlabel("Mean seconds per query (log scale)")
    axes.set_ylabel(METRICS[panel.metric].label)
    axes.set_title(f"{workload_label(panel.workload)} (n = {min(point.quality.n for point in panel.points):,})")
    axes.grid(color="#E6E6E6", linewidth=0.5)
    axes.set_axisbelow(True)


def _reach(interval: Interval) -> list[list[float]]:
    """Give how far a bar goes down and up; where bounds are not known it goes nowhere."""
    reach = (interval.mean - interval.low, interval.high - interval.mean)
    return [[max(length, 0.0) if math.isfinite(length) else 0.0] for length in reach]


def _draw_labels(figure: Figure, axes: Axes, panel: Panel) -> None:
    bars = []
    for point in panel.points:
        x, y = point.latency, point.quality
        bars += [((x.mean, y.low), (x.mean, y.high))] if math.isfinite(y.low) else []
        bars += [((x.low, y.mean), (x.high, y.mean))] if math.isfinite(x.low) else []
    edge = [(point.latency.mean, point.quality.mean) for point in frontier(panel.points)]
    bars += pairwise(edge)
    place_labels(figure, axes, [_label(point) for point in panel.points], bar_boxes(figure, axes, bars))


def _label(point: Point) -> Label:
    how = look(point.method)
    return Label(name(point.method), point.latency.mean, point.quality.mean, how.colour, how.weight)
