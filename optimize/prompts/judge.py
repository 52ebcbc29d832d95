"""The metric that prompts are chosen by, in the form that DSPy's optimisers call: a score, and words for each role."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import dspy

from metrics.metric import METRICS
from metrics.record import QueryRecord
from optimize.prompts.feedback import feedback
from programs.errors import InputError
from programs.workloads.query import Example, Reference


@dataclass(frozen=True)
class Judge:
    """Scores what a program made of a question. The references are held here, so that no example carries them."""

    quality: str
    references: dict[int, Reference]
    """By the position of their question."""

    @classmethod
    def of(cls, quality: str, examples: Iterable[Example]) -> Judge:
        """Judge these questions by a metric of which more is better."""
        known = METRICS.get(quality)
        if known is None or known.higher_is_better is not True or known.kind == "amount":
            fitting = [name for name, one in METRICS.items() if one.higher_is_better and one.kind != "amount"]
            raise InputError(f"--quality {quality!r} is nothing to choose prompts by; use one of {', '.join(fitting)}")
        return cls(quality, {example.query.position: example.reference for example in examples})

    def __call__(
        self,
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,
        pred_name: Any = None,
        pred_trace: Any = None,
    ) -> dspy.Prediction:
        """Score a prediction. With `pred_name`, the words are for that predictor; the score is always the query's."""
        if pred.record is None:  # the candidate was refused, and not run
            return dspy.Prediction(score=0.0, feedback="")
        said = "" if pred_name is None else self.tell(pred_name, pred.record, gold.position, pred.score)
        return dspy.Prediction(score=pred.score, feedback=said)

    def tell(self, predictor: str, record: QueryRecord, position: int, score: float) -> str:
        """Give the words for one predictor about one query."""
        told = f"Score of the query: {score:.2f} ({METRICS[self.quality].label})."
        return feedback(predictor, record, self.references[position], told)

    def read(self, scores: dict[str, float]) -> float:
        """Take the score out of a query's metrics. One that is not defined is no success; means leave it out."""
        value = scores.get(self.quality, math.nan)
        return 0.0 if math.isnan(value) else value
