"""The validation questions in the order in which a trial asks them: slice after slice, a part of each workload in each.

All trials ask in this order, so what a trial was stopped at is a beginning of what the others have, and any two can be
compared question by question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metrics.bootstrap import Array
from metrics.significance import Paired, macro_paired
from optimize.development import workload_of
from optimize.measure import Task, mean_of, tasks_of
from programs.workloads.query import Example


@dataclass(frozen=True)
class Questions:
    """Questions in slices. Values are one a question, of as many as were asked."""

    examples: tuple[Example, ...]
    ends: tuple[int, ...]
    """How many questions were asked when each slice ends."""

    @classmethod
    def sliced(cls, examples: Sequence[Example], slices: int) -> Questions:
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
