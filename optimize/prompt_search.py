"""Chooses the prompts of a method on development questions, and says in a compiled file what was chosen and how.

The start is measured first, an optimiser then tries candidates on the bench, and the best one that was tried on all
validation questions is taken if it is better than the start. Only predictors that the start's runs asked are
optimised: a prompt that nobody reads can't be chosen by what comes of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from metrics.metric import METRICS
from metrics.significance import Paired
from optimize.bench import Bench, Prompts
from optimize.development import Development
from optimize.ending import raising_causes
from optimize.measure import Measured
from optimize.memorised import Memorised
from optimize.metric import Judge
from optimize.optimizers import Task, run_optimizer
from optimize.proposing import proposing
from optimize.student import Student, prompts_of
from programs.errors import InputError
from programs.methods.contender import Contender
from programs.methods.indexes import Indexes
from programs.models.backend import Backend
from programs.models.completions import KeptBackend, kept
from programs.models.ledger import Call, Ledger, Phase
from programs.models.runtime import Runtime
from programs.progress import Listener


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
    start: Contender,
    development: Development,
    runtime: Runtime,
    completions: Path,
    search: Search,
    proposer: Backend | None = None,
    listener: Listener = lambda step, done, total: None,
) -> Found:
    """Search for prompts. Every completion is kept in a file, by which a search that was stopped goes on.

    Without a `proposer`, the auxiliary model proposes instructions.
    """
    check(search, development, start)
    lent = kept(runtime, completions)
    keeper = lent.auxiliary.backend
    assert isinstance(keeper, KeptBackend)
    asked = keeper if proposer is None else KeptBackend(proposer, keeper.completions)
    try:
        return _search(start, development, lent, search, asked, listener)
    finally:
        keeper.close()


def check(search: Search, development: Development, start: Contender) -> None:
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
    start: Contender, development: Development, runtime: Runtime, search: Search, asked: Backend, listener: Listener
) -> Found:
    every = (*development.train, *development.validation)
    program = start.open_over(Indexes(), runtime, development.workloads[0])
    first = prompts_of(program)
    bench = Bench(
        start,
        first,
        runtime,
        development,
        Judge.of(search.quality, every),
        Memorised(every, [prompt.instructions for prompt in first.values()]),
        search.budget,
        search.workers,
        listener,
    )
    names = _asked(bench)
    proposals = Ledger(query_id="")
    with proposals.scope("proposer", Phase.AUX):
        task = Task(Student(program, names, bench), bench, proposing(asked), search.seed, search.good)
        run_optimizer(search.optimizer, task)
    return _found(bench, search, names, _own(start, runtime, development), proposals)


def _asked(bench: Bench) -> tuple[str, ...]:
    """Measure the start, and name the predictors that its runs asked, in the program's order."""
    with raising_causes():
        runs = bench.run_all(bench.start, bench.validation)
    if math.isnan(bench.validated()[0][1].mean(bench.judge.quality)):
        raise InputError(f"{bench.judge.quality} is not defined for these questions; choose another --quality")
    asked = {step.predictor for run in runs for step in run.steps}
    names = tuple(name for name in bench.start if name in asked)
    if not names:
        raise InputError(f"{bench.contender.name} asked no model with these settings, so it has no prompt to choose")
    return names


def _own(start: Contender, runtime: Runtime, development: Development) -> Prompts:
    """Give the method's own prompts, as they are without anything compiled."""
    return prompts_of(replace(start, compiled=None).open_over(Indexes(), runtime, development.workloads[0]))


def _found(bench: Bench, search: Search, names: tuple[str, ...], own: Prompts, proposals: Ledger) -> Found:
    tried = bench.validated()
    prompts, measured = max(tried, key=lambda one: one[1].mean(search.quality))  # of equals, the first
    return Found(
        search=search,
        start=tried[0][1],
        chosen=measured,
        prompts=prompts,
        own=own,
        optimised=names,
        changed=tuple(name for name in names if prompts[name] != bench.start[name]),
        tried=tuple(tried),
        candidates=len(bench.tried),
        refused=tuple(bench.refused.values()),
        runs=bench.made,
        calls=(*bench.calls(), *proposals.calls),
    )
