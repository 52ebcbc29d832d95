"""The search of a method's parameters: propose, measure slice by slice, give up what is beaten, and choose.

Everything that is decided hangs on the seed, the questions and the models alone, so the same search, killed or not,
chooses the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from metrics.metric import METRICS
from optimize.measure import Measured, measure
from optimize.parameters.sampling import propose
from optimize.parameters.study import Study
from optimize.parameters.trial import SlicedQuestions, Trial, choose, is_beaten
from optimize.shared_indexes import SharedIndexes
from programs.elapsed import elapsed
from programs.errors import InputError
from programs.methods.indexes import Indexes
from programs.methods.space import Space
from programs.models.runtime import Runtime
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings
from programs.workloads.query import Example

STARTUP = 10
"""Trials that are drawn at random before the sampler learns from them, the start among them."""

QUALITIES = ("answer", "evidence")
"""Groups of metrics that a method is to be good at."""
COSTS = ("ret", "tokens_reader", "tokens_aux", "tokens_index")
"""What a method is to spend little of. Seconds are not among them: a search by them would not repeat itself."""

Progress = Callable[[int, int, int], None]
"""Told of the trial under way: its number, and how many questions it was asked of how many."""

Finished = Callable[[Trial], None]
"""Told of a trial when it is finished."""


@dataclass(frozen=True)
class Objective:
    """What a search makes the most of, and what it spends the least of."""

    quality: str
    cost: str

    def check(self, settings: Settings) -> None:
        """Refuse metrics that can't be searched by."""
        if self.quality not in METRICS or METRICS[self.quality].group not in QUALITIES:
            names = [name for name, metric in METRICS.items() if metric.group in QUALITIES]
            raise InputError(f"{self.quality!r} is no quality to search by; use one of {', '.join(names)}")
        if METRICS[self.quality].group == "answer" and not settings.lifecycle.answer:
            raise InputError(f"{self.quality} is of answers, and no reader is asked; add --reader")
        if self.cost not in COSTS:
            raise InputError(f"{self.cost!r} is no cost to search by; use one of {', '.join(COSTS)}")


@dataclass(frozen=True)
class ParameterSearch:
    """A search that can be run, and run again."""

    configured: ConfiguredMethod
    """The method with the settings that the search starts from."""
    space: Space
    questions: SlicedQuestions
    objective: Objective
    runtime: Runtime
    seed: int
    workers: int = 1

    @cached_property
    def shared(self) -> SharedIndexes:
        """What the trials of this process have built."""
        return SharedIndexes(self.questions.examples, self.space.online)

    def run(
        self,
        study: Study,
        trials: int,
        progress: Progress = lambda number, done, total: None,
        finished: Finished = lambda trial: None,
    ) -> Trial:
        """Go on until there are as many trials, and choose one."""
        while len(study.trials) < trials:
            trial = self._next(study.trials, progress)
            study.add(trial)
            finished(trial)
        chosen = choose(study.trials, self.questions)
        study.write_lines(chosen)
        return chosen

    def with_parameters(self, parameters: Mapping[str, Any]) -> ConfiguredMethod:
        """Give the method as it runs with a trial's parameters."""
        return replace(self.configured, settings=self.space.applied(parameters))

    def measured(self, trial: Trial, progress: Progress = lambda number, done, total: None) -> Measured:
        """Measure a trial once more, for all that its records tell; what was kept makes it quick."""
        configured = self.with_parameters(trial.parameters)
        told = _from(progress, replace(trial, quality=()))
        return self._measure(configured, self.questions.examples, self.shared.trial(configured), told)

    def _next(self, before: Sequence[Trial], progress: Progress) -> Trial:
        number = len(before)
        if number == 0:
            start = Trial(0, "complete", self.space.start(), self.space.start_settings())
            return self._defined(self._tried(start, before, progress))
        drawn = propose(self.space, before, self.questions, number, self.seed, STARTUP)
        trial = Trial(number, "complete", drawn, self.space.settings_of(drawn))
        same = next((other for other in before if other.parameters == trial.parameters), None)
        if same is not None:
            return replace(trial, state=same.state, quality=same.quality, cost=same.cost, error=same.error)
        try:
            return self._tried(trial, before, progress)
        except InputError as error:  # settings that do not go together
            return replace(trial, state="failed", error=str(error))

    def _tried(self, trial: Trial, before: Sequence[Trial], progress: Progress) -> Trial:
        """Measure a trial slice by slice, as long as it is worth it."""
        configured = self.with_parameters(trial.parameters)
        indexes = self.shared.trial(configured)
        started = time.perf_counter()
        for examples in self.questions.slices():
            trial = self._with(trial, self._measure(configured, examples, indexes, _from(progress, trial)))
            if before and len(trial.quality) < len(self.questions) and self._is_beaten(trial, before):
                trial = replace(trial, state="pruned")
                break
        return replace(trial, seconds=elapsed(started))

    def _measure(
        self,
        configured: ConfiguredMethod,
        examples: Sequence[Example],
        indexes: Indexes,
        told: Callable[[int, int], None],
    ) -> Measured:
        def listener(done: int, _: int) -> None:
            told(done, len(self.questions))

        return measure(configured, self.runtime, examples, workers=self.workers, listener=listener, indexes=indexes)

    def _is_beaten(self, trial: Trial, before: Sequence[Trial]) -> bool:
        return is_beaten(trial.worth, choose(before, self.questions), self.questions)

    def _with(self, trial: Trial, found: Measured) -> Trial:
        calls = [call for record in found.records for call in record.calls]
        return replace(
            trial,
            quality=(*trial.quality, *found.values(self.objective.quality).tolist()),
            cost=(*trial.cost, *found.values(self.objective.cost).tolist()),
            prompt_tokens=trial.prompt_tokens + sum(call.prompt_tokens for call in calls),
            completion_tokens=trial.completion_tokens + sum(call.completion_tokens for call in calls),
        )

    def _defined(self, trial: Trial) -> Trial:
        quality, cost = self.objective.quality, self.objective.cost
        if math.isnan(self.questions.mean(trial.quality)):
            raise InputError(f"{quality} is not defined for any of the questions; search by another metric")
        if unknown := sum(map(math.isnan, trial.cost)):
            raise InputError(
                f"{cost} is not known for {unknown} of {len(trial.cost)} questions, since a model's size is not; "
                "set auxiliary.parameters and reader.parameters, or search by another --cost"
            )
        return trial


def _from(progress: Progress, trial: Trial) -> Callable[[int, int], None]:
    """Count on from the questions that a trial was asked before."""
    asked = len(trial.quality)
    return lambda done, total: progress(trial.number, asked + done, total)
