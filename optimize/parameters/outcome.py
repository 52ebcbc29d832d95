"""What a search for parameters came to: the compiled file, its best trials, and what the choice is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from metrics.metric import METRICS
from metrics.significance import Interval
from optimize.development import Development
from optimize.measure import MACRO, Measured
from optimize.parameters.search import COSTS, QUALITIES, Objective, ParameterSearch
from optimize.parameters.trial import RULE, Trial
from programs.models.identity import model_identities
from programs.selection.compiled import Choice, Compiled, MeasuredMean, Spent

SHOWN = 10
"""Trials in the table."""
WIDEST = 80
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
    settings, start = search.configured.settings, search.configured.compiled
    return Compiled(
        method=search.configured.name,
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
            models=model_identities(settings),
            spent=spent_on(trials),
        ).after(start.choice if start else None),
    )


def objective_text(objective: Objective, read: bool) -> str:
    """Say what was searched for."""
    return f"the most {objective.quality}, then the least {objective.cost}" + ("" if read else UNREAD)


def scores_of(measured: Measured, read: bool) -> dict[str, dict[str, MeasuredMean]]:
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


def _interval(found: Interval) -> MeasuredMean:
    low, high = (None if math.isnan(bound) else bound for bound in (found.low, found.high))
    return MeasuredMean(mean=found.mean, low=low, high=high, n=found.n)


def best_trials(search: ParameterSearch, trials: Sequence[Trial], chosen: Trial) -> Table:
    """Show the best trials, and the chosen one and the start wherever they stand."""
    questions, objective = search.questions, search.objective
    complete = [trial for trial in trials if trial.state == "complete"]
    ranked = sorted(complete, key=lambda t: (-questions.mean(t.quality), questions.mean(t.cost), t.number))
    ended = {state: sum(trial.state == state for trial in trials) for state in ("pruned", "failed")}
    others = [f"{count} {state}" for state, count in ended.items() if count]
    title = ", ".join([f"{len(trials)} trials on {len(questions)} questions", *others])
    labels = [METRICS[name].label for name in (objective.quality, objective.cost)]
    table = Table("rank", "trial", *labels, title=title)
    table.add_column("other than the start", max_width=WIDEST)
    for rank, trial in enumerate(ranked, start=1):
        if rank <= SHOWN or trial.number in (chosen.number, 0):
            names = [name for name, shown in (("chosen", trial is chosen), ("start", trial.number == 0)) if shown]
            table.add_row(
                str(rank),
                Text(" ".join([str(trial.number), *names]), style="bold" if trial is chosen else ""),
                f"{questions.mean(trial.quality):.3f}",
                f"{questions.mean(trial.cost):,.0f}",
                Text(differing(trial, trials[0])),
            )
    return table


def differing(trial: Trial, start: Trial) -> str:
    """Write the parameters that are not as in the start."""
    others = {key: value for key, value in trial.parameters.items() if value != start.parameters[key]}
    return ", ".join(f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in others.items())


def gain(search: ParameterSearch, scores: Measured, baseline: Measured) -> str:
    """Say what the choice is worth more than the start, question by question."""
    said = []
    for metric, decimals in ((search.objective.quality, 3), (search.objective.cost, 0)):
        found = scores.against(baseline, metric)
        bounds = "" if math.isnan(found.low) else f" [{found.low:+,.{decimals}f}, {found.high:+,.{decimals}f}]"
        said.append(f"{METRICS[metric].label} {found.difference:+,.{decimals}f}{bounds}")
    return ", ".join(said) + " against the start"
