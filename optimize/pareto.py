"""Which trial is taken, of those that nobody beats in both quality and cost."""

from __future__ import annotations

from collections.abc import Sequence

from optimize.questions import Questions
from optimize.trial import PRICE, Trial

RULE = (
    "Of the trials that were measured on all validation questions, the one with the most quality less its price: "
    f"{PRICE} tokens cost one point of 100. Of equals the better one, then the earliest."
)
DIGITS = 12
"""Decimals beyond which two sums differ by their rounding alone."""


def choose(trials: Sequence[Trial], questions: Questions) -> Trial:
    """Pick a trial by the rule. There is always one: the start is measured on all questions."""
    complete = [trial for trial in trials if trial.state == "complete"]

    def preference(trial: Trial) -> tuple[float, float, int]:
        worth, quality = (round(questions.mean(values), DIGITS) for values in (trial.worth, trial.quality))
        return (-worth, -quality, trial.number)

    return min(complete, key=preference)
