"""StateRAG less every other system, query by query, with what the paper prints of the same two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

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
        rows = {each.system: each for each in found if (each.workload, each.metric) == (workload, metric)}
        if rows:
            panels.append(rows)
    if not panels:
        return None
    drawn = [method for method in reversed(others) if any(method in rows for rows in panels)]
    height = AROUND + ROW * len(drawn)
    figure = Figure(figsize=(FULL_WIDTH if len(panels) > 1 else FULL_WIDTH * 0.65, height), layout="constrained")
    for axes, rows in zip(figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels, strict=True):
        _draw(axes, {drawn.index(method): each for method, each in rows.items()})
        axes.tick_params(axis="y", length=0)
    figure.axes[0].set_yticks(range(len(drawn)), [name(method) for method in drawn])
    figure.axes[0].set_ylim(-0.6, len(drawn) - 0.4)
    if handles := _handles(panels):
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _draw(axes: Axes, rows: Mapping[int, Comparison]) -> None:
    """Draw each comparison at its height; a system that a workload lacks leaves its row empty."""
    axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
    for place, each in rows.items():
        how, value = look(each.system), -each.paired.difference
        if math.isfinite(each.paired.low):
            ends = [-each.paired.high, -each.paired.low]
            axes.plot(ends, [place, place], color=how.colour, linewidth=0.9, zorder=2)
        axes.plot([value], [place], marker=how.marker, markersize=how.size, color=how.colour, zorder=3, clip_on=False)
        told = printed_difference(each)
        if math.isfinite(told):
            axes.plot([told], [place], marker="|", markersize=8, color="black", zorder=4, clip_on=False)
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    grid(axes, "x")
    some = next(iter(rows.values()))
    sizes = sorted({each.paired.n for each in rows.values()})
    told_n = f"n = {sizes[0]:,}" if len(sizes) == 1 else f"n = {sizes[0]:,} to {sizes[-1]:,}"
    axes.set_title(f"{shortened(workload_label(some.workload))}\n{told_n}")
    axes.set_xlabel(f"{METRICS[some.metric].label}: StateRAG\nless this")


def _handles(panels: Sequence[Mapping[str, Comparison]]) -> list[Line2D]:
    handles = []
    found = [each for rows in panels for each in rows.values()]
    if any(math.isfinite(each.paired.low) for each in found):
        handles.append(Line2D([], [], color=GREY, linewidth=0.9, label="95% interval"))
    if any(math.isfinite(printed_difference(each)) for each in found):
        handles.append(Line2D([], [], color="black", marker="|", markersize=8, linestyle="none", label="in the paper"))
    return handles
