"""How much each parameter of a search matters, for quality and for cost.

With Optuna and scikit-learn the measure is fANOVA: of the variance of a forest that is fitted to the trials, the share
that a parameter explains by itself. Without them it is a rank correlation, which sees only what rises or falls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import JsonValue
from scipy.stats import rankdata  # type: ignore[import-untyped]

from optimize.search_record import SearchRecord, Span, TrialRecord, value_text

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

FEWEST = 8
"""Trials below which a share would be noise with digits."""
MOST = 200
"""Trials that the forest is fitted to, evenly over the search: with more it takes minutes and says the same."""
FANOVA, RANKS = "fANOVA", "rank correlation"

Objective = Literal["quality", "cost"]


@dataclass(frozen=True)
class Importance:
    """Shares of what the parameters explain, largest first. A share is of all parameters, so they sum to 1."""

    measure: str | None
    """None where there are too few trials to say anything."""
    trials: int
    """How many it was measured on."""
    quality: Mapping[str, float]
    cost: Mapping[str, float]

    @property
    def order(self) -> list[str]:
        """The parameters, those that matter most for either first."""
        keys = dict.fromkeys([*self.quality, *self.cost])
        return sorted(keys, key=lambda key: -max(self.quality.get(key, 0.0), self.cost.get(key, 0.0)))


def importance(search: SearchRecord) -> Importance:
    """Measure the parameters that differ among the trials that can be compared, and that all of these have."""
    trials = _evenly(search.complete)
    keys = [key for key in search.varied if all(key in trial.parameters for trial in trials)]
    if len(trials) < FEWEST or not keys:
        return Importance(None, len(trials), {}, {})
    try:
        return Importance(FANOVA, len(trials), *(_fanova(search, trials, keys, of) for of in ("quality", "cost")))
    except ImportError:
        return Importance(RANKS, len(trials), *(_ranks(trials, keys, of) for of in ("quality", "cost")))


def _fanova(
    search: SearchRecord, trials: Sequence[TrialRecord], keys: Sequence[str], of: Objective
) -> dict[str, float]:
    import optuna
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances
    from optuna.trial import create_trial

    measured = _measured(trials, of)
    if not _vary([value for _, value in measured]):
        return {}
    distributions = {key: _distribution(search.about.space.get(key), _column(trials, key)) for key in keys}
    with _quietly():
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        for trial, value in measured:
            parameters = {key: _told(distributions[key], trial.parameters[key]) for key in keys}
            study.add_trial(create_trial(params=parameters, distributions=distributions, value=value))
        shares = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0))
    return {key: float(share) for key, share in shares.items()}


@contextmanager
def _quietly() -> Iterator[None]:
    """Let Optuna not tell of a study that nobody will see."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _ranks(trials: Sequence[TrialRecord], keys: Sequence[str], of: Objective) -> dict[str, float]:
    """Share out squared rank correlations; of values without an order, squared correlation ratios of the ranks."""
    measured = _measured(trials, of)
    if not _vary([value for _, value in measured]):
        return {}
    ranks = rankdata([value for _, value in measured])
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    squares = {}
    for key in keys:
        column = _column([trial for trial, _ in measured], key)
        groups = _groups(column)
        if _numbers(column):
            squares[key] = float(np.corrcoef(rankdata(column), ranks)[0, 1] ** 2) if len(groups) > 1 else 0.0
        else:
            squares[key] = sum(len(at) * float(ranks[at].mean() - ranks.mean()) ** 2 for at in groups) / spread
    whole = sum(squares.values()) or 1.0
    return {key: square / whole for key, square in sorted(squares.items(), key=lambda item: -item[1])}


def _distribution(space: list[JsonValue] | Span | None, column: Sequence[JsonValue]) -> BaseDistribution:
    """Say where a parameter's values come from. The start's own value may lie outside of what was searched."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    numbers = _numbers(column)
    if numbers is None or isinstance(space, list):
        values = [*(space if isinstance(space, list) else ()), *column]
        return CategoricalDistribution(tuple(dict.fromkeys(value_text(value) for value in values)))
    ends = [*numbers, *((space.low, space.high) if space else ())]
    return FloatDistribution(min(ends), max(ends), log=bool(space and space.log) and min(ends) > 0)


def _told(distribution: BaseDistribution, value: JsonValue) -> str | float:
    """Give a value as its distribution knows it."""
    from optuna.distributions import FloatDistribution

    if isinstance(distribution, FloatDistribution) and isinstance(value, int | float):
        return float(value)
    return value_text(value)


def _measured(trials: Sequence[TrialRecord], of: Objective) -> list[tuple[TrialRecord, float]]:
    pairs = [(trial, trial.quality if of == "quality" else trial.cost) for trial in trials]
    return [(trial, value) for trial, value in pairs if value is not None]


def _vary(values: Sequence[float]) -> bool:
    return len(set(values)) > 1


def _column(trials: Sequence[TrialRecord], key: str) -> list[JsonValue]:
    return [trial.parameters[key] for trial in trials]


def _numbers(column: Sequence[JsonValue]) -> list[float] | None:
    """Give the values as numbers if all of them are; yes and no are not."""
    numbers = [float(value) for value in column if isinstance(value, int | float) and not isinstance(value, bool)]
    return numbers if len(numbers) == len(column) else None


def _groups(column: Sequence[JsonValue]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for at, value in enumerate(column):
        groups.setdefault(value_text(value), []).append(at)
    return list(groups.values())


def _evenly(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    if len(trials) <= MOST:
        return list(trials)
    return [trials[round(at)] for at in np.linspace(0, len(trials) - 1, MOST)]
