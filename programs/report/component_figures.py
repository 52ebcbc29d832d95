"""What StateRAG's parts do: index tokens, quality without MARS, hits of memory, and where gold evidence is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from metrics.funnel import Funnel, Tally
from metrics.scores import METRICS
from metrics.significance import Interval
from programs.report.figure_style import (
    BLUE,
    COLUMN_WIDTH,
    FULL_WIDTH,
    GREY,
    LONGEST_NAME,
    VERMILLION,
    log_ticks,
    look,
    name,
    short,
    shortened,
    spread_wide,
)
from programs.report.funnel_tables import by_type, group
from programs.report.names import LONGBENCH, MACRO, STATERAG, is_staterag, is_variant, workload_label
from programs.report.results import Results

WITHOUT_MARS = "staterag-without-mars"
LONGEST_TITLE = 18
"""Of a workload above a panel that shares its width with the names of its bars."""
BAR_HEIGHT = 0.17
"""Inches, for the names of bars to stand below each other."""
FEWEST_BARS = 4
"""For which a panel has room, so that one alone does not fill it."""
ROOM_FOR_TEXT = 0.045
"""The share of the width that a percentage needs."""
Drawer = Callable[[Axes], None]


@dataclass(frozen=True)
class Part:
    """A part of a bar: what it is called, its colour, and the colour of a text on it."""

    label: str
    colour: str
    ink: str


ADMITTED = Part("admitted", BLUE, "white")
LOSSES = {
    "admitted": Part("not admitted", "#FFF3C4", "black"),
    "carried": Part("not carried", "#FFD98A", "black"),
    "kept": Part("not kept", "#FBB04C", "black"),
    "candidates": Part("no candidate", "#EC7014", "black"),
    "reached": Part("never reached", "#993404", "white"),
    "completed": Part("query incomplete", "#8C8C8C", "black"),
}
"""By the stage that gold did not get to, in the order of a bar: the darker, the earlier it was lost."""


@dataclass(frozen=True)
class Bar:
    """One bar: its name, how much gold it stands for, and the share of each part."""

    label: str
    gold: int
    shares: dict[Part, float]


def profile_figure(results: Results) -> Figure | None:
    """Draw those of the three panels for which there is data."""
    found = [draw for draw in (index_panel(results), mars_panel(results), memory_panel(results)) if draw is not None]
    if not found:
        return None
    width = {1: COLUMN_WIDTH, 2: FULL_WIDTH * 0.75, 3: FULL_WIDTH}[len(found)]
    figure = Figure(figsize=(width, 2.3), layout="constrained")
    drawn = figure.subplots(1, len(found), squeeze=False)[0]
    for draw, axes in zip(found, drawn, strict=True):
        draw(axes)
    figure.set_figheight(max(2.3, 0.9 + BAR_HEIGHT * max(len(axes.get_yticks()) for axes in drawn)))
    return figure


def index_panel(results: Results) -> Drawer | None:
    """LLM tokens spent on indexes, a query, by the methods that spend any, and by StateRAG."""
    methods = [method for method in results.methods if not is_variant(method)]
    for workload in results.summaries(methods):
        found = {method: results.interval(method, workload, "tokens_index") for method in methods}
        spent = {
            method: each.mean
            for method, each in found.items()
            if each is not None and (each.mean > 0 or is_staterag(method))
        }
        if any(spent.values()):
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
    above = [amount for amount in amounts if amount > 0]
    is_log = spread_wide(above)
    left = 10 ** math.floor(math.log10(min(above)) - 0.3) if is_log else 0.0
    lengths = [max(amount, left) for amount in amounts]  # what is nought ends where the axis begins
    _draw_bars(axes, [name(method) for method in order], lengths, colours, [f"{amount:,.0f}" for amount in amounts])
    if is_log:
        axes.set_xscale("log")
        axes.set_xlim(left, max(amounts) * 4)
        log_ticks(axes, "x")
        axes.set_xlabel("LLM tokens per query (log)")
    else:
        axes.set_xlim(0, max(amounts) * 1.3)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
        axes.set_xlabel("LLM tokens per query")
    axes.set_title(f"Index construction\n{shortened(workload_label(workload), LONGEST_TITLE)}")


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
        axes.annotate(text, (place, top), (0, 2), textcoords="offset points", ha="center", fontsize=6.5)
    axes.set_ylim(0, max(tops) * 1.35 or 1)
    axes.set_xticks(range(len(pairs)), ["Acc." if metric == "accuracy" else METRICS[metric].label for metric in pairs])
    axes.legend(loc="upper center", ncols=2, columnspacing=1.0, handlelength=1.0)
    axes.set_xlabel("Differences in percentage points")
    axes.set_title(f"Answer quality\n{shortened(workload_label(workload), LONGEST_TITLE)}")


def _top(found: Interval) -> float:
    return found.high if math.isfinite(found.high) else found.mean


def _draw_memory(axes: Axes, rates: dict[str, float]) -> None:
    order = list(reversed(rates))
    labels = ["Avg." if workload == MACRO else shortened(workload_label(workload)) for workload in order]
    colours = [GREY if workload == MACRO else VERMILLION for workload in order]
    amounts = [rates[workload] for workload in order]
    _draw_bars(axes, labels, amounts, colours, [f"{amount:.2f}" for amount in amounts])
    axes.set_xlim(0, max(amounts) * 1.25 or 100)
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= min(100, axes.get_xlim()[1])])
    axes.set_xlabel("Hit rate (%)")
    axes.set_title("Global memory\nhits among reads")


def _draw_bars(
    axes: Axes, labels: Sequence[str], amounts: Sequence[float], colours: Sequence[str], texts: Sequence[str]
) -> None:
    """Draw a bar a place, for two long names may be shortened to the same."""
    bars = axes.barh(range(len(labels)), amounts, color=colours, height=0.62)
    axes.set_yticks(range(len(labels)), labels)
    middle, room = (len(labels) - 1) / 2, max(len(labels), FEWEST_BARS) / 2
    axes.set_ylim(middle - room, middle + room)
    axes.bar_label(bars, texts, padding=2, fontsize=7)


def funnel_figure(funnels: Sequence[Funnel]) -> Figure:
    """Draw a panel for each method on each workload, a bar for each question type."""
    panels = [[bar(label, tally, funnel.stages) for label, tally in by_type(funnel)] for funnel in funnels]
    heights = [0.45 + 0.24 * len(bars) for bars in panels]
    figure = Figure(figsize=(FULL_WIDTH, sum(heights) + 0.75), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": heights})
    for (axes,), funnel, bars in zip(grid, funnels, panels, strict=True):
        draw(axes, bars)
        axes.set_title(shortened(group(funnel), 2 * LONGEST_NAME), loc="left")
    grid[-1][0].set_xlabel("share of gold evidence")
    used = {part for bars in panels for each in bars for part, share in each.shares.items() if share}
    figure.legend(
        handles=[Patch(color=part.colour, label=part.label) for part in (ADMITTED, *LOSSES.values()) if part in used],
        loc="outside lower center",
        ncols=4,
    )
    return figure


def bar(label: str, tally: Tally, stages: Sequence[str]) -> Bar:
    """Part a type's gold by the first of these stages that it did not get to."""
    counts = [tally.survivors(stage) for stage in stages]
    lost = {stage: counts[at - 1] - counts[at] for at, stage in enumerate(stages) if at}
    shares = {part: lost.get(stage, 0) / counts[0] for stage, part in LOSSES.items()}
    return Bar(label, counts[0], {ADMITTED: counts[-1] / counts[0]} | shares)


def draw(axes: Axes, bars: Sequence[Bar]) -> None:
    """Draw the bars from the top down, with percentages where there is room."""
    for place, each in enumerate(bars):
        left = 0.0
        for part, share in each.shares.items():
            axes.barh(place, share, left=left, height=0.72, color=part.colour, edgecolor="white", linewidth=0.4)
            if share >= ROOM_FOR_TEXT:
                middle = left + share / 2
                axes.text(middle, place, f"{share:.0%}", ha="center", va="center", color=part.ink, fontsize=7)
            left += share
    axes.set_yticks(range(len(bars)), [f"{shortened(each.label)} ({each.gold:,})" for each in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
