"""A report's figures, as SVG and PNG: quality against latency, and how much of the needed evidence was admitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from metrics.scores import METRICS
from metrics.significance import Interval
from programs.report.component_figures import profile_figure
from programs.report.figure_style import (
    COLUMN_WIDTH,
    FULL_WIDTH,
    GREY,
    grid,
    log_ticks,
    look,
    name,
    save,
    share_limits,
    shortened,
    spread_wide,
    style,
)
from programs.report.label_placement import Label, bar_boxes, place_labels
from programs.report.names import DOCVQA, is_variant, workload_label
from programs.report.results import Results

RECALL = ("passage_found", "passage_recall", "recall@5", "source_recall")
ANSWER = "answer_in_evidence"
QUALITY = ("f1", *RECALL, ANSWER)
"""The first that two methods have is drawn: without a reader there is no answer, but there is evidence."""
MOST_PANELS = 6
DASHES = (0, (4, 2))
AT_NOUGHT = 7.0
"""Points between an axis and its names, which a marker at nought keeps off."""


class Point(NamedTuple):
    """A method's operating point."""

    method: str
    quality: Interval
    latency: Interval


class Panel(NamedTuple):
    """One workload."""

    workload: str
    metric: str
    points: list[Point]


def write_figures(results: Results, folder: Path) -> list[Path]:
    """Draw what there is data for, and give the files."""
    drawers = {"quality-latency": quality_figure, "components": profile_figure, "evidence": evidence_figure}
    paths: list[Path] = []
    with style():
        for stem, draw in drawers.items():
            figure = draw(results)
            if figure is not None:
                paths += save(figure, folder, stem)
    return paths


def quality_figure(results: Results) -> Figure | None:
    """Draw a panel for each workload on which at least two methods can be compared."""
    found = panels(results)
    if not found:
        return None
    figure, axes = _paneled(len(found), 2.7)
    for panel, each in zip(found, axes, strict=True):
        _draw_points(each, panel)
    if handles := _handles(found, results.level):
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
    figure.draw_without_rendering()  # settles the layout, which the labels' places depend on
    figure.set_layout_engine("none")
    for panel, each in zip(found, axes, strict=True):
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


def evidence_figure(results: Results) -> Figure | None:
    """Draw a panel for each workload whose gold evidence is known."""
    known = [(workload, _evidence_metrics(results, workload)) for workload in results.summaries(results.methods)]
    shown = [(workload, metrics) for workload, metrics in known if metrics][:MOST_PANELS]
    if not shown:
        return None
    figure, axes = _paneled(len(shown), 0.9 + 0.19 * len(results.methods))
    for (workload, metrics), each in zip(shown, axes, strict=True):
        _draw_evidence(each, results, workload, metrics)
    return figure


def _paneled(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """Lay panels out in two columns, or in one where there is one."""
    columns = min(count, 2)
    rows = -(-count // columns)
    width = FULL_WIDTH if columns == 2 else COLUMN_WIDTH * 1.3
    figure = Figure(figsize=(width, height * rows + 0.2), layout="constrained")
    axes = [each for line in figure.subplots(rows, columns, squeeze=False) for each in line]
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]


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
    if len(edge) > 1:
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
            zorder=3,
            clip_on=False,
        )
    _scale(axes, panel)
    axes.set_ylabel(METRICS[panel.metric].label)
    queries = min(point.quality.n for point in panel.points)
    axes.set_title(f"{shortened(workload_label(panel.workload))} (n = {queries:,})")
    grid(axes)


def _scale(axes: Axes, panel: Panel) -> None:
    """Give seconds a logarithmic axis where they spread, and keep the axis of quality within 0 and 1."""
    axes.margins(x=0.16, y=0.12)
    if spread_wide([point.latency.mean for point in panel.points]):
        axes.set_xscale("log")
        axes.autoscale_view()
        log_ticks(axes, "x")
        axes.set_xlabel("Mean seconds per query (log scale)")
    else:
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
        axes.set_xlabel("Mean seconds per query")
    axes.set_ylim(share_limits(*axes.get_ylim()))


def _handles(found: Sequence[Panel], level: float) -> list[Line2D]:
    """Explain the dashes and the bars, where there are any."""
    handles = []
    if any(len(frontier(panel.points)) > 1 for panel in found):
        handles.append(Line2D([], [], color=GREY, linestyle=DASHES, linewidth=0.8, label="Not beaten in both"))
    if any(bars for panel in found for point in panel.points for bars in _bars(point)):
        bars = f"{level:.0%} interval"
        handles.append(Line2D([], [], color=GREY, linewidth=0.5, marker="|", markersize=4, label=bars))
    return handles


def _reach(interval: Interval) -> list[list[float]]:
    """Give how far a bar goes down and up; where bounds are not known it goes nowhere."""
    reach = (interval.mean - interval.low, interval.high - interval.mean)
    return [[max(length, 0.0) if math.isfinite(length) else 0.0] for length in reach]


def _bars(point: Point) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Give the ends of the bars of a point's intervals, as far as they have a length."""
    x, y = point.latency, point.quality
    up = [((x.mean, y.low), (x.mean, y.high))] if y.low < y.high else []
    return up + ([((x.low, y.mean), (x.high, y.mean))] if x.low < x.high else [])


def _draw_labels(figure: Figure, axes: Axes, panel: Panel) -> None:
    edge = [(point.latency.mean, point.quality.mean) for point in frontier(panel.points)]
    bars = [*(bar for point in panel.points for bar in _bars(point)), *pairwise(edge)]
    place_labels(figure, axes, [_label(point) for point in panel.points], bar_boxes(figure, axes, bars))


def _label(point: Point) -> Label:
    how = look(point.method)
    return Label(name(point.method), point.latency.mean, point.quality.mean, how.colour, how.weight)


def _evidence_metrics(results: Results, workload: str) -> list[str]:
    """Choose the first kind of recall that is known, drawn filled, and whether answers are there, drawn hollow."""
    recall = [metric for metric in RECALL if _having(results, workload, metric)][:1]
    return recall + ([ANSWER] if _having(results, workload, ANSWER) else [])


def _having(results: Results, workload: str, metric: str) -> list[str]:
    return [method for method in results.methods if results.interval(method, workload, metric) is not None]


def _draw_evidence(axes: Axes, results: Results, workload: str, metrics: Sequence[str]) -> None:
    having = {method for metric in metrics for method in _having(results, workload, metric)}
    methods = [method for method in reversed(results.methods) if method in having]
    for row, metric in enumerate(metrics):
        for place, method in enumerate(methods):
            found = results.interval(method, workload, metric)
            if found is not None:
                _draw_mean(axes, method, found, place + (0.14 if row == 0 else -0.14), hollow=metric == ANSWER)
    axes.set_yticks(range(len(methods)), [name(method) for method in methods])
    axes.set_ylim(-0.6, len(methods) - 0.4)
    axes.set_xlim(share_limits(0.0, math.ceil(axes.get_xlim()[1] * 10) / 10))
    grid(axes, "x")
    axes.tick_params(axis="y", length=0, pad=AT_NOUGHT)
    marks = {metric: "○" if metric == ANSWER else "●" for metric in metrics}
    axes.set_xlabel("   ".join(f"{mark} {METRICS[metric].label}" for metric, mark in marks.items()))
    axes.set_title(shortened(workload_label(workload)))


def _draw_mean(axes: Axes, method: str, found: Interval, height: float, hollow: bool) -> None:
    how = look(method)
    if math.isfinite(found.low):
        axes.plot([found.low, found.high], [height, height], color=how.colour, linewidth=0.8, zorder=2)
    axes.plot(
        [found.mean],
        [height],
        marker=how.marker,
        markersize=how.size * 0.85,
        markerfacecolor="white" if hollow else how.colour,
        markeredgecolor=how.colour,
        markeredgewidth=0.8,
        zorder=3,
        clip_on=False,
    )
