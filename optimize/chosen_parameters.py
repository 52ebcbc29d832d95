"""The compiled file of a search for parameters: what was chosen, how, and what it is worth beside the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from metrics.metric import METRICS
from metrics.significance import Interval as Bounds
from optimize.development import Development
from optimize.measure import MACRO, Measured
from optimize.pareto import RULE
from optimize.search import COSTS, QUALITIES, Objective, ParameterSearch
from optimize.trial import Trial
from programs.methods.compiled import Choice, Compiled, Interval, Spent
from programs.models.entry import model_entries

BY = "optuna TPE"
UNREAD = "; no reader was asked, so the admitted evidence counts as what it would have read"


def compiled_parameters(
    search: ParameterSearch,
    development: Development,
    trials: Sequence[Trial],
    chosen: Trial,
    scores: Measured,
    baseline: Measured,
    fixed: Mapping[str, Any],
) -> Compiled:
    """Say what was chosen. What the start's file says of its own choice goes on to be true of this one.

    `fixed` are settings that the whole search had, and the preset and the start have not.
    """
    settings, start = search.contender.settings, search.contender.compiled
    return Compiled(
        method=search.contender.name,
        preset=settings.preset,
        parameters={
            **(start.parameters if start else {}),
            **fixed,
            **search.space.overrides(chosen.parameters),
        },
        prompts=start.prompts if start else {},
        choice=Choice(
            by=BY,
            objective=objective_text(search.objective, settings.lifecycle.answer),
            rule=RULE,
            seed=search.seed,
            development=development.digest,
            workloads=development.workloads,
            train=len(development.train),
            validation=len(development.validation),
            seen=development.seen,
            scores=scores_of(scores, settings.lifecycle.answer),
            baseline=scores_of(baseline, settings.lifecycle.answer),
            models=model_entries(settings),
            spent=spent_on(trials),
        ).after(start.choice if start else None),
    )


def objective_text(objective: Objective, read: bool) -> str:
    """Say what was searched for."""
    return f"the most {objective.quality}, then the least {objective.cost}" + ("" if read else UNREAD)


def scores_of(measured: Measured, read: bool) -> dict[str, dict[str, Interval]]:
    """Give the intervals of what is defined, by workload and over all of them.

    Seconds are not told: they would make two files of the same choice differ.
    """
    groups = QUALITIES if read else ("evidence",)
    told = [*(name for name, metric in METRICS.items() if metric.group in groups), *COSTS]
    return {
        workload: {name: _interval(bounds) for name, bounds in measured.intervals(told, workload).items()}
        for workload in (*measured.workloads, MACRO)
    }


def spent_on(trials: Sequence[Trial]) -> Spent:
    """Sum up what the trials cost, as if no completion had been kept."""
    return Spent(
        trials=len(trials),
        queries=sum(len(trial.quality) for trial in trials),
        prompt_tokens=sum(trial.prompt_tokens for trial in trials),
        completion_tokens=sum(trial.completion_tokens for trial in trials),
        seconds=round(math.fsum(trial.seconds for trial in trials), 3),
    )


def _interval(found: Bounds) -> Interval:
    low, high = (None if math.isnan(bound) else bound for bound in (found.low, found.high))
    return Interval(mean=found.mean, low=low, high=high, n=found.n)
