"""Trials of a search for parameters: what is asked, what a trial came to, when it is given up, and which one is taken.

All trials ask their questions in one order, slice after slice with a part of each workload in each. So what a trial was
stopped at is a beginning of what the others have, and any two can be compared question by question. Nothing here looks
at a clock: a search that was killed prunes and chooses the same as one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from metrics.bootstrap import Array
from metrics.significance import Paired, macro_paired
from optimize.development import workload_of
from optimize.measure import Task, mean_of, tasks_of
from programs.methods.space import Drawn
from programs.workloads.query import Example

PRICE = 100
"""Tokens that cost one point of quality, of 100. Without a price the longest evidence wins, whatever it does to the
reader: the last points of recall are bought with as many tokens as all the others."""

RULE = (
    "Of the trials that were measured on all validation questions, the one with the most quality less its price: "
    f"{PRICE} tokens cost one point of 100. Of equals the better one, then the earliest."
)
DIGITS = 12
"""Decimals beyond which two sums differ by their rounding alone."""

SLICES = 3
"""Parts of the questions, after each of which a trial may be given up."""
FEWEST = 12
"""Questions below which no trial is given up: an interval of a few is too narrow."""
LEVEL = 0.90

State = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class SlicedQuestions:
    """Questions in slices. Values are one a question, of as many as were asked."""

    examples: tuple[Example, ...]
    ends: tuple[int, ...]
    """How many questions were asked when each slice ends."""

    @classmethod
    def sliced(cls, examples: Sequence[Example], slices: int) -> SlicedQuestions:
        """Deal each workload's questions out to the slices in turn."""
        dealt: list[list[Example]] = [[] for _ in range(slices)]
        places: dict[str, int] = {}
        for example in examples:
            place = places.setdefault(workload_of(example), 0)
            places[workload_of(example)] += 1
            dealt[place % slices].append(example)
        parts = [part for part in dealt if part]
        ends = np.cumsum([len(part) for part in parts]).tolist()
        return cls(tuple(example for part in parts for example in part), tuple(ends))

    def __len__(self) -> int:
        return len(self.examples)

    def slices(self) -> list[tuple[Example, ...]]:
        """Give the slices' questions."""
        starts = (0, *self.ends)
        return [self.examples[start:end] for start, end in zip(starts, self.ends, strict=False)]

    def tasks(self, values: Sequence[float] | Array) -> dict[str, Task]:
        """Part values by workload."""
        return tasks_of(self.examples[: len(values)], np.asarray(values, dtype=np.float64))

    def mean(self, values: Sequence[float] | Array) -> float:
        """Give the mean over workloads of their means."""
        return mean_of(self.tasks(values).values())

    def means(self, values: Sequence[float] | Array) -> dict[str, float]:
        """Give each workload's mean."""
        return {name: mean_of([task]) for name, task in self.tasks(values).items()}

    def paired(self, ours: Sequence[float], theirs: Sequence[float], level: float) -> Paired:
        """Compare on the questions that both were asked: ours less theirs."""
        asked = min(len(ours), len(theirs))
        mine, others = self.tasks(ours[:asked]), self.tasks(theirs[:asked])
        return macro_paired([(mine[name][0], others[name][0], mine[name][1]) for name in mine], level=level)


@dataclass(frozen=True)
class Trial:
    """A finished trial. Trial 0 is where the search starts: the preset, or the file that it was given."""

    number: int
    state: State
    drawn: Mapping[str, Drawn]
    """What the sampler drew, in its own scale."""
    parameters: Mapping[str, Any]
    """What that makes of the settings."""
    quality: tuple[float, ...] = ()
    """One number a question, in the order of the search's questions, of as many as were asked."""
    cost: tuple[float, ...] = ()
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None

    @property
    def worth(self) -> tuple[float, ...]:
        """Its quality less its price, question by question."""
        return tuple(quality - cost / (100 * PRICE) for quality, cost in zip(self.quality, self.cost, strict=True))

    def line(self, questions: SlicedQuestions, chosen: bool = False) -> dict[str, Any]:
        """Say what a reader of the search wants to know, as one line of `trials.jsonl`."""
        quality, cost = questions.means(self.quality), questions.means(self.cost)
        return {
            "number": self.number,
            "state": self.state,
            "parameters": dict(self.parameters),
            "quality": _finite(questions.mean(self.quality)),
            "cost": _finite(questions.mean(self.cost)),
            "by_workload": {name: {"quality": _finite(quality[name]), "cost": _finite(cost[name])} for name in quality},
            "queries": len(self.quality),
            "seconds": round(self.seconds, 3),
            "chosen": chosen,
        } | ({"error": self.error} if self.error else {})


def is_beaten(worth: Sequence[float], by: Trial, questions: SlicedQuestions) -> bool:
    """Tell whether a trial is surely worth less than another so far: the 90 % interval of the difference is below 0."""
    if len(worth) < FEWEST:
        return False
    difference = questions.paired(worth, by.worth, LEVEL)
    return not math.isnan(difference.high) and difference.high < 0


def expected(trial: Trial, start: Trial, questions: SlicedQuestions) -> tuple[float, float]:
    """Say what a trial comes to on all questions, which for one that was given up is an estimate.

    What it was worth more than the start on the questions that it was asked, it is taken to be worth more on all: a
    sampler that never heard of such trials would go on proposing their like.
    """
    asked = len(trial.quality)
    if asked == len(questions):
        return questions.mean(trial.quality), questions.mean(trial.cost)
    more = [
        questions.mean(whole) + questions.mean(ours) - questions.mean(whole[:asked])
        for ours, whole in ((trial.quality, start.quality), (trial.cost, start.cost))
    ]
    return more[0], more[1]


def choose(trials: Sequence[Trial], questions: SlicedQuestions) -> Trial:
    """Pick a trial by the rule. There is always one: the start is measured on all questions."""
    complete = [trial for trial in trials if trial.state == "complete"]

    def preference(trial: Trial) -> tuple[float, float, int]:
        worth, quality = (round(questions.mean(values), DIGITS) for values in (trial.worth, trial.quality))
        return (-worth, -quality, trial.number)

    return min(complete, key=preference)


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
