"""Which trial is taken, of those that nobody beats in both quality and cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from metrics.bootstrap import units_of
from optimize.measure import Task
from optimize.questions import Questions
from optimize.trial import Trial

RULE = (
    "Of the trials that were measured on all validation questions and whose quality is within one standard error of "
    "the best one's, by the differences question by question, the one with the least cost; of equal costs the better "
    "one, and of equals the earliest."
)
ROUNDING = 1e-12


def choose(trials: Sequence[Trial], questions: Questions) -> Trial:
    """Pick a trial by the rule. There is always one: the start is measured on all questions."""
    complete = [trial for trial in trials if trial.state == "complete"]
    cost = {trial.number: questions.mean(trial.cost) for trial in complete}
    quality = {trial.number: questions.mean(trial.quality) for trial in complete}
    best = min(complete, key=lambda trial: (-quality[trial.number], cost[trial.number], trial.number))
    good = [trial for trial in complete if _as_good(trial, best, questions)]
    return min(good, key=lambda trial: (cost[trial.number], -quality[trial.number], trial.number))


def standard_error(tasks: Iterable[Task]) -> float:
    """Give the standard error of a mean over workloads, whole clusters standing and falling together.

    A workload with one unit adds nothing: its spread is not known.
    """
    variances = []
    for values, clusters in tasks:
        for _, units in units_of({"values": values}, clusters):
            if not len(units):
                continue
            rest = units.sums[:, 0] - units.sizes * (units.means[0] - units.centre[0])
            spread = float(np.square(rest).sum()) * len(units) / max(1, len(units) - 1)
            variances.append(spread / units.n**2 if len(units) > 1 else 0.0)
    return math.sqrt(sum(variances)) / len(variances) if variances else 0.0


def _as_good(trial: Trial, best: Trial, questions: Questions) -> bool:
    behind = np.subtract(best.quality, trial.quality)
    tasks = questions.tasks(behind)
    return questions.mean(behind) <= standard_error(tasks.values()) + ROUNDING
