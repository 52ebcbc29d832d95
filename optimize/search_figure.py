"""A search in one figure: how it went, what quality costs, which parameters matter, and which values do well."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from optimize.importance import Importance
from optimize.parameter_panels import draw_importance, draw_parameter, worth_a_panel
from optimize.search_record import SearchRecord, TrialRecord, best_so_far, costs, front, metric_label, qualities
from optimize.trial_marks import COMPLETE, FAILED, PRUNED, dots, marks, named
from programs.report.console import snippet
from programs.report.figure_style import BLUE, FULL_WIDTH, GREY, LONGEST_NAME, log_ticks, name, short
from programs.report.label_placement import Box, Label, bar_boxes, place_labels

GRID = "#E6E6E6"
DASHES = (0, (4, 2))
WIDE = 4.0
"""How many times the least cost the greatest must be for a logarithmic axis."""
DOT = 2.0


def search_figure(search: SearchRecord, importance: Importance) -> Figure:
    """Draw what there are trials for, within `figure_style.style`."""
    keys = worth_a_panel(importance)
    figure = Figure(figsize=(FULL_WIDTH, 6.4 if keys else 3.2), layout="constrained")
    rows = figure.add_gridspec(2 if keys else 1, 1, height_ratios=[1.0, 1.2] if keys else [1.0])
    priced = [trial for trial in search.complete if trial.cost is not None]
    top = rows[0].subgridspec(1, 2 if priced else 1)
    draw_history(figure.add_subplot(top[0]), search)
    market = figure.add_subplot(top[1]) if priced else None
    if market is not None:
        draw_front(market, search, priced)
    if keys:
        _draw_parameters(figure, rows[1], search, importance, keys)
    figure.suptitle(title(search), fontsize=9.0, fontweight="bold")
    figure.legend(handles=_handles(search, bool(priced)), loc="outside lower center", ncols=4)
    figure.draw_without_rendering()  # settles the layout, which the labels' places depend on
    figure.set_layout_engine("none")
    if market is not None:
        _name_points(figure, market, search, priced)
    return figure


def title(search: SearchRecord) -> str:
    """Say in a line what the search was, and how its trials ended."""
    states = [f"{count} {state}" for state in ("complete", "pruned", "failed") if (count := search.count(state))]
    about = search.about
    trials = f"{len(search.trials):,} trial{'s' if len(search.trials) != 1 else ''}"
    what = f"{name(about.method)}, preset {snippet(about.preset, LONGEST_NAME)}"
    return f"{what}: {trials} ({', '.join(states)}), seed {about.seed}"


def draw_history(axes: Axes, search: SearchRecord) -> None:
    """Draw quality trial by trial, and the best of those that were measured whole."""
    for state, mark in (("complete", COMPLETE), ("pruned", PRUNED)):
        trials = [trial for trial in search.trials if trial.state == state and trial.quality is not None]
        dots(axes, [trial.number for trial in trials], qualities(trials), mark)
    for trial, mark, _ in named(search):
        dots(axes, [trial.number], qualities([trial]), mark)
    steps, last = best_so_far(search.trials), search.trials[-1].number
    if steps:
        across, up = [*(at for at, _ in steps), last], [*(best for _, best in steps), steps[-1][1]]
        axes.plot(across, up, color=BLUE, linewidth=1.2, drawstyle="steps-post", zorder=3)
    for trial in search.trials:
        if trial.state == "failed":
            axes.plot(
                trial.number,
                0.0,
                marker=FAILED.marker,
                markersize=FAILED.size,
                color=FAILED.colour,
                transform=axes.get_xaxis_transform(),
                clip_on=False,
            )
    spare = max(0.5, 0.03 * last)
    axes.set_xlim(-spare, last + spare)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))
    axes.set_xlabel("Trial")
    axes.set_ylabel(metric_label(search.about.quality))
    axes.set_title("The search", loc="left")
    if all(trial.quality is None for trial in search.trials):
        axes.set_yticks([])
        axes.text(0.5, 0.5, "No trial was measured", transform=axes.transAxes, ha="center", color=GREY)
    _ruled(axes)


def draw_front(axes: Axes, search: SearchRecord, priced: Sequence[TrialRecord]) -> None:
    """Draw quality against cost, and the line of trials that no other beats in both."""
    edge = front(priced)
    axes.plot(costs(edge), qualities(edge), color=GREY, linestyle=DASHES, linewidth=0.9)
    dots(axes, costs(priced), qualities(priced), COMPLETE)
    for trial, mark, _ in named(search):
        if trial.cost is not None:
            dots(axes, costs([trial]), qualities([trial]), mark)
    axes.margins(x=0.1, y=0.1)
    if min(costs(priced)) > 0 and max(costs(priced)) > WIDE * min(costs(priced)):
        axes.set_xscale("log")
        axes.autoscale_view()
        log_ticks(axes, "x")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.set_xlabel(f"Mean {metric_label(search.about.cost)} per question")
    axes.set_ylabel(metric_label(search.about.quality))
    axes.set_title("What quality costs", loc="left")
    _ruled(axes)


def _draw_parameters(
    figure: Figure, place: SubplotSpec, search: SearchRecord, importance: Importance, keys: Sequence[str]
) -> None:
    columns = min(3, len(keys))
    grid = place.subgridspec(-(-len(keys) // columns), columns + 1, width_ratios=[1.1, *[1.0] * columns])
    draw_importance(figure.add_subplot(grid[:, 0]), search, importance)
    first: Axes | None = None
    for at, key in enumerate(keys):
        axes = figure.add_subplot(grid[at // columns, 1 + at % columns], sharey=first)
        first = first or axes
        draw_parameter(axes, search, key)
        if at % columns == 0:
            axes.set_ylabel(metric_label(search.about.quality))
        else:
            axes.tick_params(labelleft=False)


def _name_points(figure: Figure, axes: Axes, search: SearchRecord, priced: Sequence[TrialRecord]) -> None:
    """Write names beside the start and the chosen trial, off the other points and the line."""
    labels = [
        Label(text, trial.cost, trial.quality, mark.colour, "bold")
        for trial, mark, text in named(search)
        if trial.cost is not None and trial.quality is not None
    ]
    edge = front(priced)
    line = bar_boxes(figure, axes, list(pairwise(zip(costs(edge), qualities(edge), strict=True))))
    place_labels(figure, axes, labels, [*line, *_boxes(figure, axes, priced)])


def _boxes(figure: Figure, axes: Axes, trials: Sequence[TrialRecord]) -> list[Box]:
    scale = 72.0 / figure.dpi
    places = axes.transData.transform(list(zip(costs(trials), qualities(trials), strict=True))) * scale
    return [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in places.tolist()]


def _handles(search: SearchRecord, priced: bool) -> list[Line2D]:
    lines = []
    if search.complete:
        lines.append(Line2D([], [], color=BLUE, linewidth=1.2, label="Best so far"))
    if priced:
        lines.append(Line2D([], [], color=GREY, linestyle=DASHES, linewidth=0.9, label="Not beaten in both"))
    return [mark.handle for mark in marks(search, search.trials)] + lines


def _ruled(axes: Axes) -> None:
    axes.grid(color=GRID, linewidth=0.5)
    axes.set_axisbelow(True)
