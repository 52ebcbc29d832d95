"""StateRAG less every other system, query by query, with what the paper prints of the same two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from programs.report.comparison import Comparison
from programs.report.figure_style import FULL_WIDTH, GREY, grid, look, name, save, shortened, style
from programs.report.names import DOCVQA, STATERAG, workload_label
from programs.report.results import Results
from programs.reproduce.findings import comparisons, printed_difference

ROW, AROUND = 0.19, 1.0
"""Inches: of a system, and of a panel's title and axis."""
METRIC = "f1"


def write_differences(scored: Sequence[ScoreTable], folder: Path) -> list[Path]:
    """Draw the figure, where StateRAG and something else ran."""
    with style():
        figure = differences_figure(scored)
        return [] if figure is None else save(figure, folder, "differences")


def differences_figure(scored: Sequence[ScoreTable]) -> Figure | None:
    """Draw a panel for each workload, a row for each other system."""
    results = Results(scored)
    others = [method for method in results.methods if method != STATERAG]
    found = comparisons(results, STATERAG, others, (METRIC, "anls"))
    panels = []
    for workload in results.summaries([STATERAG]):
        metric = "anls" if workload == DOCVQA else METRIC
        rows = [each for each in found if (each.workload, each.metric) == (workload, metric)]
        if rows:
            panels.append(sorted(rows, key=lambda each: others.index(each.system), reverse=True))
    if not panels:
        return None
    height = AROUND + ROW * max(map(len, panels))
    figure = Figure(figsize=(FULL_WIDTH if len(panels) > 1 else FULL_WIDTH * 0.65, height), layout="constrained")
    for axes, rows in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, rows)
    if handles := _handles(panels):
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _draw(axes: Axes, rows: Sequence[Comparison]) -> None:
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for place, each in enumerate(rows):
        how, value = look(each.system), -each.paired.difference
        if math.isfinite(each.paired.low):
            ends = [-each.paired.high, -each.paired.low]
            axes.plot(ends, [place, place], color=how.colour, linewidth=0.9, zorder=2)
        axes.plot([value], [place], marker=how.marker, markersize=how.size, color=how.colour, zorder=3, clip_on=False)
        told = printed_difference(each)
        if math.isfinite(told):
            axes.plot([told], [place], marker="|", markersize=8, color="black", zorder=4, clip_on=False)
    axes.set_yticks(range(len(rows)), [name(each.system) for each in rows])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.08)
    grid(axes, "x")
    sizes = sorted({each.paired.n for each in rows})
    told_n = f"n = {sizes[0]:,}" if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"
    axes.set_title(f"{shortened(workload_label(rows[0].workload))} ({told_n})")
    axes.set_xlabel(f"{METRICS[rows[0].metric].label}: StateRAG less this")


def _handles(panels: Sequence[Sequence[Comparison]]) -> list[Line2D]:
    handles = []
    if any(math.isfinite(each.paired.low) for rows in panels for each in rows):
        handles.append(Line2D([], [], color=GREY, linewidth=0.9, label="95% interval"))
    if any(math.isfinite(printed_difference(each)) for rows in panels for each in rows):
        handles.append(Line2D([], [], color="black", marker="|", markersize=8, linestyle="none", label="in the paper"))
    return handles
