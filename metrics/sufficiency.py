"""Verdicts and answers against sufficiency: whether all the gold of a query was there when they were given."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple


class JudgedVerdict(NamedTuple):
    """A committed verdict, and whether the evidence that it was given on was sufficient."""

    cycle: int
    label: str
    sufficient: bool

    @property
    def is_right(self) -> bool:
        """A PASS on sufficient evidence, or a FAIL on evidence that lacks some gold."""
        return (self.label == "PASS") == self.sufficient


@dataclass(frozen=True)
class Agreement:
    """How often verdicts and sufficiency agree."""

    counts: Counter[JudgedVerdict] = field(default_factory=Counter)

    @property
    def cycles(self) -> list[int]:
        """The cycles in which a verdict was given."""
        return sorted({verdict.cycle for verdict in self.counts})

    def of_cycle(self, cycle: int) -> Agreement:
        """Keep the verdicts of one cycle."""
        return Agreement(Counter({verdict: n for verdict, n in self.counts.items() if verdict.cycle == cycle}))

    def count(self, label: str | None = None, sufficient: bool | None = None) -> int:
        """Count the verdicts of a label, on evidence that was sufficient or was not."""
        return sum(
            n
            for verdict, n in self.counts.items()
            if label in (None, verdict.label) and sufficient in (None, verdict.sufficient)
        )

    @property
    def accuracy(self) -> float:
        """The share of verdicts that are right; NaN without any."""
        total = self.count()
        return sum(n for verdict, n in self.counts.items() if verdict.is_right) / total if total else math.nan

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the share that is right where evidence suffices and where it does not; NaN where one is unknown.

        A Verifier that always gives the same verdict has 0.5, however often evidence suffices.
        """
        enough, lacking = self.count(sufficient=True), self.count(sufficient=False)
        if not enough or not lacking:
            return math.nan
        return (self.count("PASS", True) / enough + self.count("FAIL", False) / lacking) / 2


@dataclass
class AnswerMeans:
    """The scores of answers that were given on the same kind of evidence."""

    n: int = 0
    sums: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, scores: dict[str, float]) -> None:
        """Count an answer."""
        self.n += 1
        for name, value in scores.items():
            self.sums[name] += value

    def mean(self, metric: str) -> float:
        """Average a metric; NaN without answers."""
        return self.sums[metric] / self.n if self.n else math.nan
