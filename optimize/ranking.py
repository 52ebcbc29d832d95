"""What a search came to, for a person: its best trials, and what the chosen one is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from metrics.metric import METRICS
from optimize.measure import Measured
from optimize.search import ParameterSearch
from optimize.trial import Trial

SHOWN = 10
"""Trials in the table."""
WIDEST = 80


def ranking(search: ParameterSearch, trials: Sequence[Trial], chosen: Trial) -> Table:
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
