"""When to give a trial up before it was asked all questions.

Nothing here looks at a clock, and a trial is judged by what was asked of all: a search that was killed prunes the same
trials as one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from optimize.questions import Questions
from optimize.trial import Trial

SLICES = 3
"""Parts of the questions, after each of which a trial may be given up."""
FEWEST = 12
"""Questions below which no trial is given up: an interval of a few is too narrow."""
LEVEL = 0.90


def is_beaten(worth: Sequence[float], by: Trial, questions: Questions) -> bool:
    """Tell whether a trial is surely worth less than another so far: the 90 % interval of the difference is below 0."""
    if len(worth) < FEWEST:
        return False
    difference = questions.paired(worth, by.worth, LEVEL)
    return not math.isnan(difference.high) and difference.high < 0


def expected(trial: Trial, start: Trial, questions: Questions) -> tuple[float, float]:
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
