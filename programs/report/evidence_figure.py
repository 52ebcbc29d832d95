"""How much of the needed evidence each method admits, with the interval of every mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metrics.scores import METRICS
from metrics.significance import Interval
from programs.report.figure_style import COLUMN_WIDTH, FULL_WIDTH, look, name
from programs.report.names import workload_label
from programs.report.results import Results

RECALL = ("passage_recall", "recall@5", "source_recall")
"""The first that is known of a workload is drawn filled."""
ANSWER = "answer_in_evidence"
"""Drawn hollow."""
MOST_PANELS = 6


def evidence_figure(results: Results) -> Figure | None:
    """Draw a panel for each workload whose gold evidence is known."""
    known = [(workload, _metrics(results, workload)) for workload in results.summaries(results.methods)]
    shown = [(workload, metrics) for workload, metrics in known if metrics][:MOST_PANELS]
    if not shown:
        return None
    columns = min(len(shown), 2)
    rows = -(-len(shown) // columns)
    height = 0.9 + 0.19 * len(results.methods)
    width = FULL_WIDTH if columns == 2 else COLUMN_WIDTH * 1.3
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    axes = [each for line in figure.subplots(rows, columns, squeeze=False) for each in line]
    for (workload, metrics), each in zip(shown, axes, strict=False):
        _draw(each, results, workload, metrics)
    for spare in axes[len(shown) :]:
        spare.remove()
    return figure


def _metrics(results: Results, workload: str) -> list[str]:
    known = [metric for metric in (*RECALL, ANSWER) if _having(results, workload, metric)]
    recall = [metric for metric in known if metric in RECALL][:1]
    return recall + [metric for metric in known if metric == ANSWER]


def _having(results: Results, workload: str, metric: str) -> list[str]:
    return [method for method in results.methods if results.interval(method, workload, metric) is not None]


def _draw(axes: Axes, results: Results, workload: str, metrics: Sequence[str]) -> None:
    having = {method for metric in metrics for method in _having(results, workload, metric)}
    methods = [method for method in reversed(results.methods) if method in having]
    for row, metric in enumerate(metrics):
        for place, method in enumerate(methods):
            found = results.interval(method, workload, metric)
            if found is not None:
                _draw_mean(axes, method, found, place + (0.14 if row == 0 else -0.14), hollow=metric == ANSWER)
    axes.set_yticks(range(len(methods)), [name(method) for method in methods])
    axes.set_ylim(-0.6, len(methods) - 0.4)
    axes.set_xlim(0, min(1.0, math.ceil(axes.get_xlim()[1] * 10) / 10))
    axes.grid(axis="x", color="#E6E6E6", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    marks = {metric: "○" if metric == ANSWER else "●" for metric in metrics}
    axes.set_xlabel("   ".join(f"{mark} {METRICS[metric].label}" for metric, mark in marks.items()))
    axes.set_title(workload_label(workload))


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
    )
