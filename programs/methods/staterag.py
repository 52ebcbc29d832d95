"""StateRAG as a DSPy program: predictors that optimisers see by name, and a run built afresh for each query.

Models, graphs and memory are not DSPy parameters: they are held by objects that a copy shares, so `save` writes only
instructions and demonstrations (JSON, no pickle) and an optimiser's copies cost nothing.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any

import dspy

from programs.carriers.typed import TypedCarrier
from programs.contract import Contract, Fault
from programs.controller import Controller
from programs.documents.collection import Collection
from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.pool import Pool, QueryMemory
from programs.models.adapter import TemplateAdapter
from programs.models.ledger import Ledger, Phase
from programs.models.runtime import Runtime
from programs.record import Latency, MemoryUse, QueryRecord, make_record
from programs.roles.navigator import Navigator
from programs.roles.planner import Planner
from programs.roles.reader import Reader
from programs.roles.retriever import Retriever
from programs.roles.verifier import Verifier
from programs.roles.view import Tools
from programs.settings import Settings
from programs.state import OPERATORS, Role
from programs.tam.abstract import Abstractor, LeadAbstractor, ModelAbstractor, Reuse
from programs.tam.build import build_graph
from programs.tam.graph import TypedGraph
from programs.trail import Trail
from programs.workloads.query import Query
from signatures.planner import MAX_TARGETS

KEPT_GRAPHS = 4


class Shared:
    """What copies of a program have in common: the models, the memory pool, and graphs already built."""

    def __init__(self, runtime: Runtime, pool: Pool) -> None:
        self.runtime = runtime
        self.pool = pool
        self.graphs: OrderedDict[str, TypedGraph] = OrderedDict()

    def __deepcopy__(self, memo: dict[int, Any]) -> Shared:
        return self


class StateRAG(dspy.Module):  # type: ignore[misc]
    """The paper's method. `program(question=…, collection=…)` answers; `run(query)` gives the whole record."""

    name = "staterag"

    def __init__(self, runtime: Runtime, pool: Pool | None = None, workload: str = "ask") -> None:
        super().__init__()
        self.planner = Planner()
        self.navigator = Navigator()
        self.retriever = Retriever()
        self.verifier = Verifier()
        self.reader = Reader()
        self.abstraction = ModelAbstractor()
        self.workload = workload
        self._shared = Shared(runtime, pool or Pool(workload, None, runtime.settings.memory))

    @property
    def settings(self) -> Settings:
        """The settings of this program's models and budgets."""
        return self._shared.runtime.settings

    def forward(
        self, question: str, collection: Collection, query_id: str = "query", position: int = 0
    ) -> dspy.Prediction:
        """Answer a question over a collection, the way DSPy's optimisers and evaluators call a program."""
        query = Query(query_id=query_id, question=question, collection=collection, position=position)
        record = self._execute(query)
        return dspy.Prediction(answer=record.answer, record=record)

    def run(self, query: Query) -> QueryRecord:
        """Answer one query of a workload."""
        record: QueryRecord = self(
            question=query.question, collection=query.collection, query_id=query.query_id, position=query.position
        ).record
        return record

    def _execute(self, query: Query) -> QueryRecord:
        runtime = self._shared.runtime
        ledger, trail = Ledger(query.query_id), Trail()
        with (
            dspy.context(adapter=TemplateAdapter(), disable_history=True),
            ledger.scope("query", Phase.AUX),
        ):
            started = time.perf_counter()
            vector = runtime.encoder.encode_queries([query.question])[0]
            pool = self._shared.pool
            with pool.open(query.query_id, query.position, query.question, vector) as memory:
                indexed = started
                try:
                    graph = self._graph(query.collection, ledger, memory)
                    indexed = time.perf_counter()
                    self._control(query, graph, ledger, memory, trail)
                except (dspy.LMError, Fault) as error:  # spent tokens and committed states are kept
                    trail.status, trail.error = "incomplete", f"{type(error).__name__}: {error}"
                use = MemoryUse(reads=memory.reads, hits=memory.hits)
        latency = Latency(index=indexed - started, online=time.perf_counter() - indexed)
        return make_record(
            query_id=query.query_id,
            workload=self.workload,
            method=self.name,
            position=query.position,
            question=query.question,
            trail=trail,
            ledger=ledger,
            reader_parameters=runtime.reader.backend.parameters,
            latency=latency,
            memory=use,
            settings=self.settings.digest,
        )

    def _control(self, query: Query, graph: TypedGraph, ledger: Ledger, memory: QueryMemory, trail: Trail) -> None:
        """Bind this query's tools and contract, and hand over to the controller."""
        runtime = self._shared.runtime
        tools = Tools(
            settings=self.settings,
            reader=runtime.reader,
            auxiliary=runtime.auxiliary,
            encoder=runtime.encoder,
            cross_encoder=runtime.cross_encoder,
            graph=graph,
            ledger=ledger,
            memories={role: memory.handle(role) for role in OPERATORS},
        )
        most_traces = 1 if self.settings.navigation.paths == "one" else MAX_TARGETS + 1
        contract = Contract(graph, query.collection.texts, self.settings.limits(most_traces), memory.readable)
        operators = {
            Role.PLANNER: self.planner,
            Role.NAVIGATOR: self.navigator,
            Role.RETRIEVER: self.retriever,
            Role.VERIFIER: self.verifier,
        }
        carrier = TypedCarrier(contract)
        Controller(operators, self.reader).run(query.question, tools, memory, contract, carrier, trail)

    def _graph(self, collection: Collection, ledger: Ledger, memory: QueryMemory) -> TypedGraph:
        """Build the collection's graph, or take it from the last few built."""
        graphs = self._shared.graphs
        key = collection.digest
        if key not in graphs:
            with ledger.scope("abstraction", Phase.INDEX):
                graphs[key] = build_graph(
                    collection, self._shared.runtime.encoder, self._abstractor(), self.settings, reuse_of(memory)
                )
            while len(graphs) > KEPT_GRAPHS:
                graphs.popitem(last=False)
        graphs.move_to_end(key)
        return graphs[key]

    def _abstractor(self) -> Abstractor:
        runtime, tam = self._shared.runtime, self.settings.tam
        lead = LeadAbstractor(runtime.encoder, tam.child_tokens)
        if tam.abstraction == "lead":
            return lead
        return self.abstraction.bind(runtime.auxiliary, lead, tam.abstraction_tokens)


def reuse_of(memory: QueryMemory) -> Reuse:
    """Let the builder find abstractions in global memory, and offer new ones, through the Navigator's door (D7)."""
    door = memory.handle(Role.NAVIGATOR)

    def recall(key: str) -> str | None:
        payload = door.recall(Kind.ABSTRACTION, key)
        return None if payload is None else str(payload["text"])

    def remember(key: str, text: str, provenance: tuple[str, ...]) -> None:
        door.offer(Kind.ABSTRACTION, key, {"text": text}, provenance, MemoryScope.GLOBAL)

    return Reuse(recall, remember)
