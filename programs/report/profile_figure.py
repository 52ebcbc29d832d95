"""What each of StateRAG's parts does: tokens of indexing, quality without MARS, and hits of global memory."""

from __future__ import annotations

import math
from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from metrics.scores import METRICS
from metrics.significance import Interval
from programs.report.console import snippet
from programs.report.figure_style import (
    COLUMN_WIDTH,
    FULL_WIDTH,
    GREY,
    LONGEST_NAME,
    VERMILLION,
    log_ticks,
    look,
    name,
)
from programs.report.names import LONGBENCH, MACRO, STATERAG, is_variant, workload_label
from programs.report.results import Results

WITHOUT_MARS = "staterag-without-mars"
Drawer = Callable[[Axes], None]


def profile_figure(results: Results) -> Figure | None:
    """Draw those of the three panels for which there is data."""
    found = [draw for draw in (index_panel(results), mars_panel(results), memory_panel(results)) if draw is not None]
    if not found:
        return None
    width = {1: COLUMN_WIDTH, 2: FULL_WIDTH * 0.75, 3: FULL_WIDTH}[len(found)]
    figure = Figure(figsize=(width, 2.3), layout="constrained")
    for draw, axes in zip(found, figure.subplots(1, len(found), squeeze=False)[0], strict=True):
        draw(axes)
    return figure


def index_panel(results: Results) -> Drawer | None:
    """LLM tokens spent on indexes, a query, by the methods that spend any."""
    methods = [method for method in results.methods if not is_variant(method)]
    for workload in results.summaries(methods):
        found = {method: results.interval(method, workload, "tokens_index") for method in methods}
        spent = {method: each.mean for method, each in found.items() if each is not None and each.mean > 0}
        if spent:
            return lambda axes: _draw_index(axes, spent, workload)
    return None


def mars_panel(results: Results) -> Drawer | None:
    """Quality with and without the ordered roles."""
    for workload in results.summaries((WITHOUT_MARS,)):
        pairs: dict[str, tuple[Interval, Interval]] = {}
        for metric in ("em", "f1", "accuracy"):
            full, less = (results.interval(method, workload, metric) for method in (STATERAG, WITHOUT_MARS))
            if full is not None and less is not None:
                pairs[metric] = (full, less)
        if pairs:
            return lambda axes: _draw_mars(axes, pairs, workload)
    return None


def memory_panel(results: Results) -> Drawer | None:
    """The share of permitted reads of global memory that returned something, by task."""
    tables = {workload: results.table(STATERAG, workload) for workload in results.workloads}
    rates = {workload: 100 * table.hit_rate() for workload, table in tables.items() if table is not None}
    known = {workload: rate for workload, rate in rates.items() if not math.isnan(rate)}
    if not known:
        return None
    if all(task in known for task in LONGBENCH):
        known = {task: known[task] for task in LONGBENCH} | {
            MACRO: sum(known[task] for task in LONGBENCH) / len(LONGBENCH)
        }
    return lambda axes: _draw_memory(axes, known)


def _draw_index(axes: Axes, spent: dict[str, float], workload: str) -> None:
    order = sorted(spent, key=lambda method: spent[method], reverse=True)
    amounts = [spent[method] for method in order]
    colours = [look(method).colour for method in order]
    bars = axes.barh([name(method) for method in order], amounts, color=colours, height=0.62)
    axes.set_xscale("log")
    axes.set_xlim(10 ** math.floor(math.log10(min(amounts)) - 0.3), max(amounts) * 15)
    log_ticks(axes, "x")
    axes.bar_label(bars, [f"{amount:,.0f}" for amount in amounts], padding=2, fontsize=7)
    axes.set_xlabel("LLM tokens per query (log)")
    axes.set_title(f"Index construction\n{workload_label(workload)}")


def _draw_mars(axes: Axes, pairs: dict[str, tuple[Interval, Interval]], workload: str) -> None:
    for shift, colour, label, at in ((-0.19, VERMILLION, "Full", 0), (0.19, GREY, "w/o MARS", 1)):
        means = [pair[at].mean for pair in pairs.values()]
        places = [place + shift for place in range(len(pairs))]
        axes.bar(places, means, width=0.36, color=colour, label=label)
        for place, pair in zip(places, pairs.values(), strict=True):
            axes.plot([place, place], [pair[at].low, pair[at].high], color="black", linewidth=0.6)
    tops = [max(_top(each) for each in pair) for pair in pairs.values()]
    for place, (top, (full, less)) in enumerate(zip(tops, pairs.values(), strict=True)):
        text = f"{100 * (full.mean - less.mean):+.2f}"
        axes.annotate(text, (place, top + max(tops) * 0.03), ha="center", fontsize=7)
    axes.set_ylim(0, max(tops) * 1.35 or 1)
    axes.set_xticks(range(len(pairs)), ["Acc." if metric == "accuracy" else METRICS[metric].label for metric in pairs])
    axes.legend(loc="upper center", ncols=2, columnspacing=1.0, handlelength=1.0)
    axes.set_xlabel("Differences in percentage points")
    axes.set_title(f"Answer quality\n{workload_label(workload)}")


def _top(found: Interval) -> float:
    return found.high if math.isfinite(found.high) else found.mean


def _draw_memory(axes: Axes, rates: dict[str, float]) -> None:
    order = list(reversed(rates))
    labels = ["Avg." if workload == MACRO else snippet(workload_label(workload), LONGEST_NAME) for workload in order]
    colours = [GREY if workload == MACRO else VERMILLION for workload in order]
    bars = axes.barh(labels, [rates[workload] for workload in order], color=colours, height=0.62)
    axes.bar_label(bars, [f"{rates[workload]:.2f}" for workload in order], padding=2, fontsize=7)
    axes.set_xlim(0, max(rates.values()) * 1.25 or 1)
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= min(100, axes.get_xlim()[1])])
    axes.set_xlabel("Hit rate (%)")
    axes.set_title("Global memory\nhits among reads")
