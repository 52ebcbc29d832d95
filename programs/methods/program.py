"""What all methods have in common: a DSPy program that opens a ledger, does its work, and gives the query's record.

Models, indexes and memory are not DSPy parameters: they are held by objects that a copy shares, so `save` writes only
instructions and demonstrations (JSON, no pickle) and an optimiser's copies cost nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import dspy
from dspy.utils.exceptions import AdapterParseError

from programs.admission import select_budget
from programs.contract import Fault, check_provenance
from programs.documents.collection import Collection
from programs.methods.indexes import Indexes
from programs.models.adapter import TemplateAdapter
from programs.models.ledger import Ledger, Phase, current_scope
from programs.models.runtime import Runtime
from programs.progress import counted
from programs.record import Latency, MemoryUse, QueryRecord, make_record
from programs.roles.reader import open_reader
from programs.settings import Settings
from programs.state import EvidenceRecord
from programs.trail import Trail
from programs.workloads.query import Query

NO_EVIDENCE = "no evidence was found, so there was nothing to read"


@dataclass
class QueryRun:
    """One query while it runs, and what it leaves behind whatever ends it."""

    query: Query
    runtime: Runtime
    ledger: Ledger = field(init=False)
    trail: Trail = field(default_factory=Trail)
    memory: MemoryUse = field(default_factory=lambda: MemoryUse(reads=0, hits=0))
    started: float = field(default_factory=time.perf_counter)
    indexed: float | None = None

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.query.query_id)

    def ask(self, predictor: dspy.Module, role: str, max_tokens: int, **inputs: Any) -> dspy.Prediction | None:
        """Ask the auxiliary model once, in the phase that the work is in.

        An unreadable completion is counted and gives None, as a prompt too long does (D9).
        """
        with self.ledger.scope(role, current_scope().phase):
            try:
                return predictor(lm=self.runtime.auxiliary, config={"max_tokens": max_tokens}, **inputs)
            except AdapterParseError:
                self.trail.unreadable += 1
            except dspy.ContextWindowExceededError:
                pass  # the ledger has the call and its error
        return None

    def ask_all(
        self, predictor: dspy.Module, role: str, max_tokens: int, many: Sequence[Mapping[str, Any]]
    ) -> list[dspy.Prediction | None]:
        """Ask many independent things, as many at a time as the settings say, and account for them in their order."""
        runs = [QueryRun(self.query, self.runtime) for _ in many]
        asked = [
            partial(run.ask, predictor, role, max_tokens, **inputs) for run, inputs in zip(runs, many, strict=True)
        ]
        lanes = self.runtime.settings.auxiliary.parallel
        with ThreadPoolExecutor(lanes) as pool:
            futures = [pool.submit(copy_context().run, ask) for ask in asked]
            try:
                return [future.result() for future in counted(role, futures)]
            finally:  # what was spent before a fault is kept
                pool.shutdown(cancel_futures=True)
                self.ledger.absorb(*(run.ledger for run in runs), lanes=lanes)
                self.trail.unreadable += sum(run.trail.unreadable for run in runs)

    def index_is_ready(self) -> None:
        """Mark where index time ends and online time begins."""
        self.indexed = time.perf_counter()

    def latency(self) -> Latency:
        """Give the two parts of the time since the query was submitted. A build that failed is index time.

        Calls that a journal answered count as long as they took when they were made.
        """
        now, replayed, spared = time.perf_counter(), self.ledger.replayed, self.ledger.spared
        indexed = now if self.indexed is None else self.indexed
        return Latency(
            index=indexed - self.started + replayed[Phase.INDEX],
            online=now - indexed + replayed[Phase.AUX] + replayed[Phase.READER],
            spared_index=spared[Phase.INDEX],
            spared_online=spared[Phase.AUX] + spared[Phase.READER],
        )


class Program(dspy.Module):  # type: ignore[misc]
    """A method as a DSPy program: `program(question=…, collection=…)` answers, `run(query)` gives the whole record."""

    name: ClassVar[str]

    def __init__(self, runtime: Runtime, workload: str = "ask", indexes: Indexes | None = None) -> None:
        super().__init__()
        self.reader = open_reader(runtime.settings.lifecycle.answer)
        self.workload = workload
        self.runtime = runtime
        self.indexes = indexes or Indexes()

    @classmethod
    def open(cls, runtime: Runtime, workload: str, indexes: Indexes | None, memory: Path | None) -> Self:
        """Make the program. One without memory between queries has no use for the file `memory`."""
        return cls(runtime, workload, indexes)

    @property
    def settings(self) -> Settings:
        """The settings of this program's models and budgets."""
        return self.runtime.settings

    @property
    def ordered(self) -> bool:
        """Whether queries must run in order. Without memory between them they need not."""
        return False

    def resume(self, done: frozenset[int]) -> None:
        """Drop the indexes of queries that will run again."""
        self.indexes.retain(done)

    def close(self) -> None:
        """Give back what the program holds open."""

    def forward(
        self, question: str, collection: Collection, query_id: str = "query", position: int = 0
    ) -> dspy.Prediction:
        """Answer a question over a collection, the way DSPy's optimisers and evaluators call a program."""
        record = self._record(Query(query_id=query_id, question=question, collection=collection, position=position))
        return dspy.Prediction(answer=record.answer, record=record)

    def run(self, query: Query) -> QueryRecord:
        """Answer one query of a workload."""
        record: QueryRecord = self(
            question=query.question, collection=query.collection, query_id=query.query_id, position=query.position
        ).record
        return record

    def answer(self, run: QueryRun) -> None:
        """Do the method's work, leaving evidence, answer and status on the run's trail."""
        raise NotImplementedError

    def _record(self, query: Query) -> QueryRecord:
        run = QueryRun(query, self.runtime)
        with (
            dspy.context(adapter=TemplateAdapter(), disable_history=True),
            run.ledger.scope("query", Phase.AUX),
        ):
            try:
                self.answer(run)
            except (dspy.LMError, Fault) as error:  # spent tokens and committed states are kept
                run.trail.status, run.trail.error = "incomplete", f"{type(error).__name__}: {error}"
        return make_record(
            query_id=query.query_id,
            workload=self.workload,
            method=self.name,
            position=query.position,
            question=query.question,
            trail=run.trail,
            ledger=run.ledger,
            reader_parameters=self.runtime.reader.backend.parameters,
            latency=run.latency(),
            memory=run.memory,
            settings=self.settings.digest,
        )


class EvidenceProgram(Program):
    """A baseline: it indexes the collection, selects ordered evidence, and the shared reader answers from it."""

    def index(self, run: QueryRun) -> Any:
        """Give what the collection's queries search in, built or found. Calls inside are charged as index work."""
        raise NotImplementedError

    def select(self, run: QueryRun, index: Any) -> Sequence[EvidenceRecord]:
        """Choose evidence, best first. Calls inside are charged as auxiliary work."""
        raise NotImplementedError

    def answer(self, run: QueryRun) -> None:
        """Index, select, cut to the budget, check every address, and read once."""
        with run.ledger.scope("index", Phase.INDEX):
            index = self.index(run)
        run.index_is_ready()
        chosen: dict[str, EvidenceRecord] = {}
        for record in self.select(run, index):
            chosen.setdefault(record.evidence_id, record)
        admitted = select_budget(chosen.values(), self.settings.lifecycle.reader_budget, self.runtime.encoder)
        if not admitted:
            run.trail.error = NO_EVIDENCE
            return
        for record in admitted:
            check_provenance(record, run.query.collection.texts)
        run.trail.evidence = admitted
        run.trail.answer = self.reader(
            question=run.query.question,
            evidence=admitted,
            lm=self.runtime.reader,
            ledger=run.ledger,
            max_tokens=self.settings.lifecycle.reader_tokens,
        ).answer
        run.trail.status = "completed"
