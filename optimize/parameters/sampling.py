"""What to try next: a draw that hangs on the seed, the trial's number and the trials before it, and on nothing else.

Optuna's sampler has a state that a kill would lose. Here each trial has a sampler of its own, seeded by its number,
and a study that is told of the finished trials in their order; so a search goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from optimize.parameters.trial import SlicedQuestions, Trial, expected
from optimize.search_page import optuna_library
from programs.content_key import content_bytes
from programs.methods.space import Drawn, OneOf, Parameter, Range, Space, Whole

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

DIRECTIONS = ("maximize", "minimize")
"""Quality and cost."""


def propose(
    space: Space, trials: Sequence[Trial], questions: SlicedQuestions, number: int, seed: int, startup: int
) -> dict[str, Drawn]:
    """Draw the parameters of a trial from what the trials before it came to; the first `startup` are random."""
    optuna = optuna_library()
    sampler = optuna.samplers.TPESampler(
        seed=int.from_bytes(content_bytes("trial", str(seed), str(number))[:4], "big"),
        n_startup_trials=startup,
        multivariate=True,
    )
    study = optuna.create_study(directions=DIRECTIONS, sampler=sampler)
    known = distributions(space)
    for trial in trials:
        if trial.state != "failed":
            values = expected(trial, trials[0], questions)
            study.add_trial(optuna.trial.create_trial(values=values, params=dict(trial.drawn), distributions=known))
    drawn: dict[str, Drawn] = study.ask(known).params
    return {key: drawn[key] for key in known}


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Say in optuna's words what may be drawn."""
    return {parameter.key: _distribution(parameter) for parameter in space.parameters}


def _distribution(parameter: Parameter) -> Any:
    kinds = optuna_library().distributions
    if isinstance(parameter, OneOf):
        return kinds.CategoricalDistribution(parameter.values)
    if isinstance(parameter, Whole):
        return kinds.IntDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Range):
        return kinds.FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    raise TypeError(f"{parameter.key}: fit the space to settings before drawing from it")
