"""One setting of the parameters, and what it came to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from optimize.questions import Questions
from optimize.space import Drawn

PRICE = 100
"""Tokens that cost one point of quality, of 100. Without a price the longest evidence wins, whatever it does to the
reader: the last points of recall are bought with as many tokens as all the others."""

State = Literal["complete", "pruned", "failed"]


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

    def line(self, questions: Questions, chosen: bool = False) -> dict[str, Any]:
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


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
