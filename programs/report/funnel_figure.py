"""The loss funnel as a picture: all gold of a question type is one bar, parted into what was admitted and each loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from metrics.funnel import Funnel, Tally
from programs.report.console import snippet
from programs.report.figure_style import BLUE, FULL_WIDTH, LONGEST_NAME
from programs.report.funnel_tables import by_type, group

ROOM_FOR_TEXT = 0.045
"""The share of the width that a percentage needs."""


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


def funnel_figure(funnels: Sequence[Funnel]) -> Figure:
    """Draw a panel for each method on each workload, a bar for each question type."""
    panels = [[bar(label, tally, funnel.stages) for label, tally in by_type(funnel)] for funnel in funnels]
    heights = [0.45 + 0.24 * len(bars) for bars in panels]
    figure = Figure(figsize=(FULL_WIDTH, sum(heights) + 0.75), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": heights})
    for (axes,), funnel, bars in zip(grid, funnels, panels, strict=True):
        draw(axes, bars)
        axes.set_title(snippet(group(funnel), 2 * LONGEST_NAME), loc="left")
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
    axes.set_yticks(range(len(bars)), [f"{snippet(each.label, LONGEST_NAME)} ({each.gold:,})" for each in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
