"""Where candidate prompts are tried on development questions: each pair once, every run counted, none past the budget.

Optimisers come and go as they like; what is chosen in the end is chosen among what was tried here, so stopping one
in the middle loses nothing but the candidate that it was at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial, reduce
from threading import Lock

import dspy
from cachetools import LRUCache

from metrics.record import QueryRecord
from optimize.development import Development
from optimize.measure import Measured, measure
from optimize.prompts.call_recorder import CallRecorder, RecordedCall
from optimize.prompts.judge import Judge
from optimize.prompts.quotation import QuotationCheck
from programs.content_key import content_key
from programs.methods.indexes import Indexes
from programs.models.ledger import Call
from programs.models.runtime import Runtime
from programs.progress import Listener
from programs.selection.compiled import Compiled, Prompt
from programs.selection.configured import ConfiguredMethod

Prompts = Mapping[str, Prompt]
"""What a candidate is: prompts by the name of their predictor."""

CANDIDATES = 4
"""Candidates whose indexes are held at once, those tried last."""
STEP = "runs"


# How a search ends before its optimiser does. None of these is an `Exception`: optimisers take those for a question
# that went wrong, score it 0 and go on.
class SearchEnds(BaseException):
    """The search is over."""


class BudgetSpent(SearchEnds):
    """No run is left."""


class RunBroke(SearchEnds):
    """A run raised what no question should: its cause."""


@contextmanager
def raising_causes() -> Iterator[None]:
    """End quietly where the budget was spent, and otherwise raise what broke a run as it was."""
    try:
        yield
    except SearchEnds as end:
        if end.__cause__ is not None:
            raise end.__cause__ from None


@dataclass(frozen=True)
class Run:
    """One candidate on one question."""

    measured: Measured | None
    """None where the candidate was refused."""
    score: float
    steps: tuple[RecordedCall, ...] = ()

    @property
    def record(self) -> QueryRecord | None:
        """The query's record."""
        return None if self.measured is None else self.measured.records[0]


@dataclass
class PromptTrials:
    """Runs of one method with one set of settings."""

    configured: ConfiguredMethod
    start: Prompts
    """What the search starts from: the prompts of every predictor."""
    runtime: Runtime
    development: Development
    judge: Judge
    quotations: QuotationCheck
    budget: int
    workers: int = 1
    listener: Listener = lambda step, done, total: None
    refused: dict[str, str] = field(default_factory=dict)
    """What instructions that no candidate may have quote, by their key."""
    tried: dict[str, Prompts] = field(default_factory=dict)
    """Candidates in the order in which they came."""
    _quoting: set[str] = field(default_factory=set)
    _runs: dict[tuple[str, int], Future[Run]] = field(default_factory=dict)
    _indexes: LRUCache[str, Indexes] = field(default_factory=lambda: LRUCache(CANDIDATES))
    _guard: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        every = (*self.development.train, *self.development.validation)
        self._examples = {example.query.position: example for example in every}

    def __deepcopy__(self, memo: dict[int, object]) -> PromptTrials:
        """Stay one: optimisers copy programs, and all copies spend one budget."""
        return self

    @property
    def validation(self) -> list[int]:
        """The positions of the validation questions."""
        return [example.query.position for example in self.development.validation]

    @property
    def made(self) -> int:
        """Runs that were begun."""
        return len(self._runs)

    @property
    def left(self) -> int:
        """Runs that may still be made."""
        return self.budget - self.made

    def run(self, prompts: Prompts, position: int) -> Run:
        """Try a candidate on a question, or give what came of it before."""
        key = key_of(prompts)
        with self._guard:
            if self._refuses(key, prompts):
                return Run(None, 0.0)
            known = self._runs.get((key, position))
            if known is None and self.left <= 0:
                raise BudgetSpent
            mine = self._runs.setdefault((key, position), known or Future())
        if known is None:
            self._make(mine, prompts, key, position)
            self.listener(STEP, self.made, self.budget)
        return mine.result()

    def knows(self, prompts: Prompts, positions: Sequence[int]) -> bool:
        """Tell whether a candidate was tried on all of these questions."""
        return not self._new(prompts, positions)

    def run_all(self, prompts: Prompts, positions: Sequence[int]) -> list[Run]:
        """Try a candidate on several questions. They are begun only if the budget has room for all of them."""
        if len(self._new(prompts, positions)) > self.left:
            raise BudgetSpent
        if self.workers == 1:
            return [self.run(prompts, position) for position in positions]
        with ThreadPoolExecutor(self.workers, thread_name_prefix="trials") as pool:
            futures = [pool.submit(copy_context().run, partial(self.run, prompts, at)) for at in positions]
            try:
                return [future.result() for future in futures]
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def validated(self) -> list[tuple[Prompts, Measured]]:
        """Give the candidates that were tried on all validation questions, in the order in which they came."""
        found = []
        for key, prompts in self.tried.items():
            runs = [self._runs.get((key, position)) for position in self.validation]
            made = [run.result().measured for run in runs if run is not None and run.done() and not run.exception()]
            if len(made) == len(self.validation):
                found.append((prompts, reduce(Measured.joined, (one for one in made if one is not None))))
        return found

    def calls(self) -> Iterable[Call]:
        """Give every call of every run."""
        done = (run.result().record for run in self._runs.values() if run.done() and not run.exception())
        return (call for record in done if record is not None for call in record.calls)

    def quotes(self, instructions: str) -> bool:
        """Tell whether an instruction quotes development data, so that no candidate may have it."""
        quoted = self.quotations.find(instructions)
        if quoted is not None:
            self.refused[content_key(instructions)] = quoted
        return quoted is not None

    def _new(self, prompts: Prompts, positions: Sequence[int]) -> set[int]:
        key = key_of(prompts)
        return {position for position in positions if (key, position) not in self._runs}

    def _refuses(self, key: str, prompts: Prompts) -> bool:
        """Refuse a candidate that quotes development data, once and for all."""
        if key not in self.tried:
            self.tried[key] = dict(prompts)
            self._quoting |= {key} if any([self.quotes(prompt.instructions) for prompt in prompts.values()]) else set()
        return key in self._quoting

    def _make(self, run: Future[Run], prompts: Prompts, key: str, position: int) -> None:
        try:
            run.set_result(self._measure(prompts, key, position))
        except Exception as fault:
            broke = RunBroke()
            run.set_exception(broke)
            raise broke from fault
        except BaseException as stop:
            run.set_exception(stop)
            raise

    def _measure(self, prompts: Prompts, key: str, position: int) -> Run:
        configured = self.configured
        compiled = Compiled(method=configured.name, preset=configured.settings.preset, prompts=dict(prompts))
        with self._guard:
            indexes = self._indexes.setdefault(key, Indexes())
        recorder = CallRecorder()
        with dspy.context(callbacks=[recorder], trace=None):
            measured = measure(
                ConfiguredMethod(configured.name, configured.settings, compiled),
                self.runtime,
                [self._examples[position]],
                indexes=indexes,
            )
        return Run(measured, self.judge.read(measured.scores[0]), recorder.steps)


def key_of(prompts: Prompts) -> str:
    """Name a candidate by all that it says."""
    said = {name: prompt.model_dump(mode="json") for name, prompt in prompts.items()}
    return content_key(json.dumps(said, sort_keys=True))
