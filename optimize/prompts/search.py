"""Chooses the prompts of a method on development questions, and says in a compiled file what was chosen and how.

The start is measured first, an optimiser then tries candidates on the trials, and the best one that was tried on all
validation questions is taken if it is better than the start. Only predictors that the start's runs asked are
optimised: a prompt that nobody reads can't be chosen by what comes of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from metrics.metric import METRICS
from metrics.significance import Paired
from optimize.development import Development
from optimize.measure import Measured
from optimize.parameters.outcome import scores_of
from optimize.prompts.judge import Judge
from optimize.prompts.optimisable import OptimisableProgram, prompts_of
from optimize.prompts.optimizers import NAMES, Task, run_optimizer
from optimize.prompts.proposer import repeatable_model
from optimize.prompts.quotation import QuotationCheck
from optimize.prompts.trials import Prompts, PromptTrials, raising_causes
from programs.errors import InputError
from programs.models.cache.completions import CachedEngine, kept
from programs.models.engines.engine import Engine
from programs.models.identity import model_identities
from programs.models.ledger import Call, Ledger, Phase
from programs.models.runtime import Runtime
from programs.progress import Listener
from programs.selection.compiled import Choice, Compiled, Spent
from programs.selection.configured import ConfiguredMethod

RULE = (
    "Of the prompts that were tried on all validation questions, those with the highest mean of {quality} over the "
    "workloads; of equals the first, and the start is the first of all."
)
START_KEPT = " None was better than the start, which is kept."
COST = "ret"


@dataclass(frozen=True)
class Search:
    """How to search."""

    optimizer: str
    quality: str
    budget: int
    """Runs of the program on a question, at most."""
    seed: int
    good: float = 1.0
    """The score from which a run is worth showing as an example."""
    workers: int = 1


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    search: Search
    start: Measured
    chosen: Measured
    prompts: Prompts
    """The chosen ones, of every predictor."""
    own: Prompts
    """The method's, as they are without anything compiled."""
    optimised: tuple[str, ...]
    changed: tuple[str, ...]
    """The predictors whose prompts are others than the start's."""
    tried: tuple[tuple[Prompts, Measured], ...]
    """What was tried on all validation questions, the start first."""
    candidates: int
    refused: tuple[str, ...]
    """What instructions quoted that were refused for it."""
    runs: int
    calls: tuple[Call, ...]
    """Every call: the program's, and those for proposals."""

    @property
    def gain(self) -> Paired:
        """The chosen prompts' quality less the start's, question by question."""
        return self.chosen.against(self.start, self.search.quality)


def choose_prompts(
    start: ConfiguredMethod,
    development: Development,
    runtime: Runtime,
    completions: Path,
    search: Search,
    proposer: Engine | None = None,
    listener: Listener = lambda step, done, total: None,
) -> Found:
    """Search for prompts. Every completion is kept in a file, by which a search that was stopped goes on.

    Without a `proposer`, the auxiliary model proposes instructions.
    """
    check(search, development, start)
    lent = kept(runtime, completions)
    keeper = lent.auxiliary.engine
    assert isinstance(keeper, CachedEngine)
    asked = keeper if proposer is None else CachedEngine(proposer, keeper.completions)
    try:
        return _search(start, development, lent, search, asked, listener)
    finally:
        keeper.close()


def check(search: Search, development: Development, start: ConfiguredMethod) -> None:
    """Refuse a search that can't come to anything before a model is asked."""
    judge = Judge.of(search.quality, ())
    if METRICS[judge.quality].group == "answer" and not start.settings.lifecycle.answer:
        raise InputError(f"{search.quality} is about answers, and no reader is asked for one; add --reader")
    if not development.train:
        raise InputError("there are no training questions to propose from; give a larger share, or more questions")
    least = 2 * len(development.validation) + 1
    if search.budget < least:
        raise InputError(
            f"a budget of {search.budget} runs is too small: the start and one candidate take "
            f"{len(development.validation)} validation questions each; give at least {least}, or fewer questions"
        )


def _search(
    start: ConfiguredMethod,
    development: Development,
    runtime: Runtime,
    search: Search,
    asked: Engine,
    listener: Listener,
) -> Found:
    every = (*development.train, *development.validation)
    program = start.open(runtime, development.workloads[0])
    first = prompts_of(program)
    trials = PromptTrials(
        start,
        first,
        runtime,
        development,
        Judge.of(search.quality, every),
        QuotationCheck(every, [prompt.instructions for prompt in first.values()]),
        search.budget,
        search.workers,
        listener,
    )
    names = _asked(trials)
    proposals = Ledger(query_id="")
    with proposals.scope("proposer", Phase.AUX):
        task = Task(
            OptimisableProgram(program, names, trials), trials, repeatable_model(asked), search.seed, search.good
        )
        run_optimizer(search.optimizer, task)
    return _found(trials, search, names, _own(start, runtime, development), proposals)


def _asked(trials: PromptTrials) -> tuple[str, ...]:
    """Measure the start, and name the predictors that its runs asked, in the program's order."""
    with raising_causes():
        runs = trials.run_all(trials.start, trials.validation)
    if math.isnan(trials.validated()[0][1].mean(trials.judge.quality)):
        raise InputError(f"{trials.judge.quality} is not defined for these questions; choose another --quality")
    asked = {step.predictor for run in runs for step in run.steps}
    names = tuple(name for name in trials.start if name in asked)
    if not names:
        raise InputError(f"{trials.configured.name} asked no model with these settings, so it has no prompt to choose")
    return names


def _own(start: ConfiguredMethod, runtime: Runtime, development: Development) -> Prompts:
    """Give the method's own prompts, as they are without anything compiled."""
    return prompts_of(replace(start, compiled=None).open(runtime, development.workloads[0]))


def _found(trials: PromptTrials, search: Search, names: tuple[str, ...], own: Prompts, proposals: Ledger) -> Found:
    tried = trials.validated()
    prompts, measured = max(tried, key=lambda one: one[1].mean(search.quality))  # of equals, the first
    return Found(
        search=search,
        start=tried[0][1],
        chosen=measured,
        prompts=prompts,
        own=own,
        optimised=names,
        changed=tuple(name for name in names if prompts[name] != trials.start[name]),
        tried=tuple(tried),
        candidates=len(trials.tried),
        refused=tuple(trials.refused.values()),
        runs=trials.made,
        calls=(*trials.calls(), *proposals.calls),
    )


def compiled_prompts(
    start: ConfiguredMethod, development: Development, found: Found, fixed: Mapping[str, Any] = MappingProxyType({})
) -> Compiled:
    """Say what was chosen. What the start's file says of its own choice goes on to be true of this one.

    `fixed` are settings that the whole search had, and the preset and the start have not.
    """
    quality = found.search.quality
    name = NAMES[found.search.optimizer]
    return Compiled(
        method=start.name,
        preset=start.settings.preset,
        parameters={**(start.compiled.parameters if start.compiled else {}), **fixed},
        prompts={name: prompt for name, prompt in found.prompts.items() if prompt != found.own[name]},
        choice=Choice(
            by=name,
            objective=f"the most {quality}",
            rule=RULE.format(quality=quality) + ("" if found.changed else START_KEPT),
            seed=found.search.seed,
            development=development.digest,
            workloads=development.workloads,
            train=len(development.train),
            validation=len(development.validation),
            seen=development.seen,
            scores=scores_of(found.chosen, start.settings.lifecycle.answer),
            baseline=scores_of(found.start, start.settings.lifecycle.answer),
            models=model_identities(start.settings),
            spent=_spent(found),
        ).after(start.compiled.choice if start.compiled else None),
    )


def _spent(found: Found) -> Spent:
    return Spent(
        trials=found.candidates,
        queries=found.runs,
        prompt_tokens=sum(call.prompt_tokens for call in found.calls),
        completion_tokens=sum(call.completion_tokens for call in found.calls),
        seconds=round(sum(call.seconds for call in found.calls), 3),
    )
