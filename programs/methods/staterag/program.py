"""StateRAG as a DSPy program: predictors that optimisers see by name, and a controller built afresh for each query."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from metrics.record import MemoryUse
from programs.carriers.typed import TypedCarrier
from programs.contract import Contract
from programs.controller import Controller
from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.permissions import NotPermitted
from programs.memory.pool import Pool, QueryMemory
from programs.methods.base import Program, QueryRun
from programs.models.ledger import Ledger, Phase
from programs.roles.navigator import Navigator
from programs.roles.planner import Planner
from programs.roles.retriever import RANKERS, Retriever
from programs.roles.scorers import SCORERS
from programs.roles.verifier import RULES, Verifier
from programs.roles.view import Tools
from programs.settings import Settings
from programs.state import OPERATORS, Role
from programs.tam.abstract import Abstractor, LeadAbstractor, ModelAbstractor, Reuse
from programs.tam.build import NothingToBuildOn, build_graph
from programs.tam.graph import TypedGraph
from programs.tam.store import load_graph, save_graph
from programs.transcript import Transcript
from programs.workloads.query import Query
from signatures.planner import MAX_TARGETS


class StateRAG(Program):
    """The paper's method."""

    name = "staterag"

    def assemble(self) -> None:
        """Make the method's own parts."""
        check_parts(self.settings)
        self.planner = Planner()
        self.navigator = Navigator()
        self.retriever = Retriever()
        self.verifier = Verifier()
        self.abstraction = ModelAbstractor()
        self.pool = Pool(self.workload, self.memory_file, self.settings.memory)

    @property
    def ordered(self) -> bool:
        """Whether memory passes from a query to the next."""
        memory = self.settings.memory
        return memory.enabled and memory.keep_global and memory.order == "strict"

    def resume(self, done: frozenset[int]) -> None:
        """Forget what the queries that will run again left in memory and among the graphs."""
        super().resume(done)
        first = next(position for position in count() if position not in done)
        self.pool.rewind(first)

    def close(self) -> None:
        """Close the memory's file, and what every program closes."""
        self.pool.close()
        super().close()

    def answer(self, run: QueryRun) -> None:
        """Open memory, find or build the graph, and hand over to the controller."""
        query = run.query
        vector = self.runtime.encoder.encode_queries([query.question])[0]
        with self.pool.open(query.query_id, query.position, query.question, query.collection, vector) as memory:
            try:
                graph = self._graph(run, memory)
                run.index_is_ready()
                self._control(query, graph, run.ledger, memory, run.transcript)
            except (NothingToBuildOn, NotPermitted) as error:
                run.transcript.error = str(error)
            finally:
                run.memory = MemoryUse(reads=memory.reads, hits=memory.hits)
                run.transcript.refusals = memory.refusals

    def _control(
        self, query: Query, graph: TypedGraph, ledger: Ledger, memory: QueryMemory, transcript: Transcript
    ) -> None:
        """Bind this query's tools and contract, and hand over to the controller."""
        runtime = self.runtime
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
        navigation = self.settings.navigation
        most_traces = navigation.traces * (1 if navigation.paths == "one" else MAX_TARGETS + 1)
        contract = Contract(graph, query.collection.texts, self.settings.limits(most_traces), memory.readable)
        operators = {
            Role.PLANNER: self.planner,
            Role.NAVIGATOR: self.navigator,
            Role.RETRIEVER: self.retriever,
            Role.VERIFIER: self.verifier,
        }
        carrier = TypedCarrier(contract)
        Controller(operators, self.reader).run(query.question, tools, memory, contract, carrier, transcript)

    def _graph(self, run: QueryRun, memory: QueryMemory) -> TypedGraph:
        """Build the collection's graph, or find it among those already built."""
        collection = run.query.collection

        def build() -> TypedGraph:
            with run.ledger.scope("abstraction", Phase.INDEX):
                return build_graph(
                    collection, self.runtime.encoder, self._abstractor(), self.settings, reuse_of(memory)
                )

        return self.indexes.get(collection.digest, run.query.position, build, GraphCodec())

    def _abstractor(self) -> Abstractor:
        runtime, tam = self.runtime, self.settings.tam
        lead = LeadAbstractor(runtime.encoder, tam.child_tokens)
        if tam.abstraction == "lead":
            return lead
        return self.abstraction.bind(runtime.auxiliary, lead, tam.abstraction_tokens)


def check_parts(settings: Settings) -> None:
    """Refuse a name that no rule, ranker or scorer has, before the first query."""
    RULES.get(settings.verifier.rule)
    RANKERS.get(settings.retriever.ranker)
    for name in settings.navigation.scorer:
        SCORERS.get(name)


class GraphCodec:
    """A typed graph in a folder."""

    def save(self, index: TypedGraph, folder: Path) -> None:
        """Write the graph."""
        save_graph(index, folder)

    def load(self, folder: Path) -> TypedGraph:
        """Read it again."""
        return load_graph(folder)


def reuse_of(memory: QueryMemory) -> Reuse:
    """Let the builder find abstractions in global memory, and offer new ones, through the Navigator's door."""
    door = memory.handle(Role.NAVIGATOR)

    def recall(key: str) -> str | None:
        payload = door.recall(Kind.ABSTRACTION, key)
        return None if payload is None else str(payload["text"])

    def remember(key: str, text: str, provenance: tuple[str, ...]) -> None:
        door.offer(Kind.ABSTRACTION, key, {"text": text}, provenance, MemoryScope.GLOBAL)

    return Reuse(recall, remember)
