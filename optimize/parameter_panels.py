"""Panels of a search's figure that are about parameters: how much each matters, and which of its values do well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from pydantic import JsonValue

from optimize.importance import Importance
from optimize.search_record import SearchRecord, Span, TrialRecord, metric_label, qualities, value_text
from optimize.trial_marks import COMPLETE, DARK, dots, named
from programs.report.console import snippet
from programs.report.figure_style import BLUE, log_ticks

MOST_PANELS, FEWEST_PANELS, WORTH_A_PANEL = 6, 3, 0.01
MOST_BARS = 10
COST_COLOUR = "#B8B8B8"
BINS, ENOUGH_FOR_BINS = 5, 20
GOLDEN = 0.618034
"""Multiples of it spread points over an interval evenly, and the same way each time."""
LONGEST_VALUE, LONGEST_KEY = 9, 30
CROWDED = 16
"""Letters under an axis from which on its values are slanted."""


def draw_importance(axes: Axes, search: SearchRecord, importance: Importance) -> None:
    """Draw a pair of bars for each of the parameters that matter most."""
    keys = importance.order[:MOST_BARS]
    places = np.arange(len(keys))
    about = search.about
    bars = ((importance.quality, about.quality, BLUE, -0.2), (importance.cost, about.cost, COST_COLOUR, 0.2))
    for shares, metric, colour, offset in bars:
        lengths = [shares.get(key, 0.0) for key in keys]
        axes.barh(places + offset, lengths, height=0.38, color=colour, label=f"for {metric_label(metric)}")
    axes.set_yticks(places, [snippet(key, LONGEST_KEY) for key in keys], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.05, *axes.get_xlim()))
    axes.set_xlabel("Share of what they explain")
    axes.set_title(f"Importance ({importance.measure})", loc="left")
    axes.legend(loc="lower right", handlelength=1.0, fontsize=7)
    axes.tick_params(axis="y", length=0)


def worth_a_panel(importance: Importance) -> list[str]:
    """Give the parameters whose values are to be looked at: those that matter for quality, but always some."""
    shares = importance.quality or importance.cost
    ranked = sorted(shares, key=lambda key: -shares[key])
    return [key for at, key in enumerate(ranked) if at < FEWEST_PANELS or shares[key] >= WORTH_A_PANEL][:MOST_PANELS]


def draw_parameter(axes: Axes, search: SearchRecord, key: str) -> None:
    """Draw quality against the values of a parameter."""
    trials = [trial for trial in search.complete if key in trial.parameters]
    space = search.about.space.get(key)
    values = [trial.parameters[key] for trial in trials]
    if isinstance(space, Span) and all(_is_number(value) for value in values):
        places = [float(value) for value in values if isinstance(value, int | float)]
        _draw_means(axes, places, trials)
        if space.log and min(places) > 0:
            axes.set_xscale("log")
            axes.autoscale_view()
            log_ticks(axes, "x")
    else:
        order = _in_order([*(space if isinstance(space, list) else ()), *values])
        places = _spread([order.index(value_text(value)) for value in values], trials)
        _draw_group_means(axes, places, trials)
        _name_values(axes, order)
    up = qualities(trials)
    dots(axes, places, up, COMPLETE)
    for trial, mark, _ in named(search):
        if trial in trials:
            at = trials.index(trial)
            dots(axes, [places[at]], [up[at]], mark)
    axes.margins(y=0.08)
    axes.set_title(_broken(key), fontsize=7.0)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.5)
    axes.set_axisbelow(True)


def _draw_means(axes: Axes, places: Sequence[float], trials: Sequence[TrialRecord]) -> None:
    """Draw the mean over each fifth of the trials, where there are enough of them to tell."""
    if len(trials) < ENOUGH_FOR_BINS:
        return
    order = np.argsort(places, kind="stable")
    quality = np.array(qualities(trials))
    parts = np.array_split(order, BINS)
    across = [float(np.mean(np.asarray(places)[part])) for part in parts]
    axes.plot(across, [float(quality[part].mean()) for part in parts], color=DARK, linewidth=1.0, zorder=4)


def _draw_group_means(axes: Axes, places: Sequence[float], trials: Sequence[TrialRecord]) -> None:
    """Draw a short line at the mean of each value."""
    groups: dict[int, list[float]] = {}
    for place, quality in zip(places, qualities(trials), strict=True):
        groups.setdefault(round(place), []).append(quality)
    for place, group in groups.items():
        mean = sum(group) / len(group)
        axes.plot([place - 0.36, place + 0.36], [mean, mean], color=DARK, linewidth=1.0, zorder=4)


def _name_values(axes: Axes, order: Sequence[str]) -> None:
    texts = [snippet(text, LONGEST_VALUE) for text in order]
    slanted: dict[str, Any] = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"}
    crowded = len("".join(texts)) > CROWDED
    axes.set_xticks(range(len(order)), texts, fontsize=6.5, **slanted if crowded else {})
    axes.set_xlim(-0.6, len(order) - 0.4)


def _in_order(values: Sequence[JsonValue]) -> list[str]:
    """Give the values' texts, each once: numbers by size, others as they come."""
    if all(_is_number(value) for value in values):
        values = sorted(values, key=lambda value: float(str(value)))
    return list(dict.fromkeys(value_text(value) for value in values))


def _spread(places: Sequence[int], trials: Sequence[TrialRecord]) -> list[float]:
    """Move points that would lie on each other a little to the side."""
    return [at + ((trial.number * GOLDEN) % 1.0 - 0.5) * 0.5 for at, trial in zip(places, trials, strict=True)]


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _broken(key: str) -> str:
    """Break a setting's name after its section, since panels are narrow."""
    section, dot, rest = snippet(key, 2 * LONGEST_KEY).rpartition(".")
    return f"{section}{dot}\n{rest}" if section else rest
