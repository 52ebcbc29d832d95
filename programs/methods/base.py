"""What all methods have in common: a DSPy program that opens a ledger, does its work, and gives the query's record.

Models, indexes and memory are not DSPy parameters: they are held by objects that a copy shares, so `save` writes only
instructions and demonstrations (JSON, no pickle) and an optimiser's copies cost nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Self

import dspy
from dspy.utils.exceptions import AdapterParseError

from metrics.record import Latency, MemoryUse, QueryRecord, ReaderEquivalentTokens
from metrics.tokens import tokens_by_phase
from programs.admission import read_once, select_budget
from programs.contract import Fault
from programs.documents.collection import Collection
from programs.elapsed import elapsed
from programs.errors import InputError, StateRAGError
from programs.methods.indexes import Indexes
from programs.models.adapter import TemplateAdapter
from programs.models.ledger import Ledger, Phase, current_scope
from programs.models.runtime import Runtime
from programs.progress import counted
from programs.roles.reader import open_reader
from programs.settings import Settings
from programs.state import EvidenceRecord
from programs.support import judge
from programs.transcript import Transcript
from programs.workloads.query import Query, check_question

PREDICTED = ("answer", "evidence", "action", "states", "tokens")
"""What a prediction has at hand of its record."""
NO_EVIDENCE = "no evidence was found, so there was nothing to read"


@dataclass
class QueryRun:
    """One query while it runs, and what it leaves behind whatever ends it."""

    query: Query
    runtime: Runtime
    ledger: Ledger = field(init=False)
    transcript: Transcript = field(default_factory=Transcript)
    memory: MemoryUse = field(default_factory=lambda: MemoryUse(reads=0, hits=0))
    started: float = field(default_factory=time.perf_counter)
    indexed: float | None = None

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.query.query_id)

    def ask(self, predictor: dspy.Module, role: str, max_tokens: int, **inputs: Any) -> dspy.Prediction | None:
        """Ask the auxiliary model once, in the phase that the work is in.

        An unreadable completion is counted and gives None, as a prompt too long does.
        """
        with self.ledger.scope(role, current_scope().phase):
            try:
                return predictor(lm=self.runtime.auxiliary, config={"max_tokens": max_tokens}, **inputs)
            except AdapterParseError:
                self.transcript.unreadable += 1
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
                self.transcript.unreadable += sum(run.transcript.unreadable for run in runs)

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
            index=elapsed(self.started, indexed) + replayed[Phase.INDEX],
            online=elapsed(indexed, now) + replayed[Phase.AUX] + replayed[Phase.READER],
            spared_index=spared[Phase.INDEX],
            spared_online=spared[Phase.AUX] + spared[Phase.READER],
        )

    def record(self, method: str, workload: str) -> QueryRecord:
        """Put what the query left behind into its record."""
        said, calls, reader = self.transcript, self.ledger.calls, self.runtime.reader.engine
        return QueryRecord(
            query_id=self.query.query_id,
            workload=workload,
            method=method,
            position=self.query.position,
            question=self.query.question,
            answer=said.answer,
            cited=said.cited,
            status=said.status,
            support=said.support,
            action=said.action,
            cycles=said.cycles,
            states=said.states,
            considered=said.considered,
            evidence=list(said.evidence),
            rejections=said.rejections,
            error=said.error,
            parse_failures=said.parse_failures,
            calls=calls,
            tokens=tokens_by_phase(calls),
            encoder_tokens=self.ledger.encoder_tokens,
            ret=ReaderEquivalentTokens.of(calls, reader.model, reader.parameters),
            latency=self.latency(),
            memory=self.memory,
            refusals=said.refusals,
            settings=self.runtime.settings.digest,
        )


class Program(dspy.Module):  # type: ignore[misc]
    """A method as a DSPy program: `program(question=…, collection=…)` answers, `run(query)` gives the whole record."""

    name: ClassVar[str]

    def __init__(
        self, runtime: Runtime, workload: str = "ask", indexes: Indexes | None = None, memory: Path | None = None
    ) -> None:
        """Bind what a program works with; its own parts come from `assemble`.

        One without memory between queries has no use for the file `memory`.
        """
        super().__init__()
        self.reader = open_reader(runtime.settings.lifecycle)
        self.workload = workload
        self.runtime = runtime
        self.indexes = indexes or Indexes()
        self.memory_file = memory
        self.owned: Runtime | None = None
        """The models, where they were loaded for this program alone; closing it then frees them."""
        self._asked = count()
        self.assemble()

    def assemble(self) -> None:
        """Make the method's own parts: predictors, which optimisers then see, and what it holds."""

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
        """Give back what the program holds open, the models too if they are its own."""
        if self.owned is not None:
            self.owned.close()
            self.owned = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def forward(
        self, question: str, collection: Collection, query_id: str | None = None, position: int | None = None
    ) -> dspy.Prediction:
        """Answer a question over a collection, the way DSPy's optimisers and evaluators call a program.

        Questions without a position are taken to follow each other. The prediction has the answer, the evidence, the
        action that ended retrieval, the committed states, the tokens by phase, and the whole record.
        """
        if not isinstance(collection, Collection):
            raise InputError(f"documents were expected, not {type(collection).__name__}; give staterag.documents(…)")
        place = next(self._asked) if position is None else position
        name = f"query-{place}" if query_id is None else query_id
        record = self._record(
            Query(query_id=name, question=check_question(question), collection=collection, position=place)
        )
        return dspy.Prediction(record=record, **{name: getattr(record, name) for name in PREDICTED})

    async def aforward(self, *args: Any, **kwargs: Any) -> dspy.Prediction:
        """Do the same without holding up the event loop."""
        return await asyncio.to_thread(self.forward, *args, **kwargs)

    def run(self, query: Query) -> QueryRecord:
        """Answer one query of a workload."""
        record: QueryRecord = self(
            question=query.question, collection=query.collection, query_id=query.query_id, position=query.position
        ).record
        return record

    def answer(self, run: QueryRun) -> None:
        """Do the method's work, leaving evidence, answer and status on the run's transcript."""
        raise NotImplementedError

    def _record(self, query: Query) -> QueryRecord:
        run = QueryRun(query, self.runtime)
        with (
            dspy.context(adapter=TemplateAdapter(self.settings.lifecycle.constrained), disable_history=True),
            run.ledger.scope("query", Phase.AUX),
        ):
            try:
                self.answer(run)
                self._judge(run)
            except (dspy.LMError, Fault) as error:  # spent tokens and committed states are kept
                raise_if_of_this_machine(error)
                run.transcript.status, run.transcript.error = "incomplete", f"{type(error).__name__}: {error}"
        return run.record(self.name, self.workload)

    def _judge(self, run: QueryRun) -> None:
        """Say whether the answer stands on its evidence, where there is one and something to judge it by."""
        scorer, said = self.runtime.cross_encoder, run.transcript
        if not self.settings.support.judge or scorer is None or not self.settings.lifecycle.answer:
            return
        if said.status == "completed":
            with run.ledger.scope("support", Phase.READER):
                said.support = judge(
                    run.query.question, said.answer, said.evidence, scorer, self.settings.support, said.cited
                )


def raise_if_of_this_machine(error: Exception) -> None:
    """Raise what DSPy wrapped as a model's fault, if it is one of this machine, such as a full disk under a journal.

    It is no way for a query to end: recorded as one, it would stay after the disk has room again.
    """
    if isinstance(error, dspy.LMUnexpectedError) and isinstance(error.__cause__, OSError | StateRAGError):
        raise error.__cause__


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
            run.transcript.error = NO_EVIDENCE
            return
        lifecycle, texts = self.settings.lifecycle, run.query.collection.texts
        read_once(
            run.query.question, admitted, texts, self.reader, self.runtime.reader, lifecycle, run.ledger, run.transcript
        )
