"""StateRAG as a DSPy program: predictors that optimisers see by name, and a controller built afresh for each query."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import dspy

from metrics.record import MemoryUse
from programs.carriers.carrier import Carrier
from programs.carriers.typed import TypedCarrier
from programs.contract import Contract
from programs.controller import Controller
from programs.documents.collection import Collection
from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.memory import Memory, MemoryPool
from programs.memory.permissions import NotPermitted
from programs.memory.pool import Pool
from programs.methods.base import Program, QueryRun
from programs.models.ledger import Phase
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
from signatures.planner import MAX_TARGETS


class StateRAG(Program):
    """The paper's method. A variant is a subclass that takes out or replaces one of the parts below `answer`."""

    name = "staterag"

    def assemble(self) -> None:
        """Make the method's own parts."""
        check_parts(self.settings)
        self.planner = Planner()
        self.navigator: dspy.Module = Navigator()
        self.retriever = Retriever()
        self.verifier = Verifier()
        self.abstraction = ModelAbstractor()
        self.pool = self._pool()

    @property
    def ordered(self) -> bool:
        """Whether memory passes from a query to the next."""
        return self.pool.ordered

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
                self._control(run, self._tools(run, graph, memory), memory)
            except (NothingToBuildOn, NotPermitted) as error:
                run.transcript.error = str(error)
            finally:
                run.memory = MemoryUse(reads=memory.reads, hits=memory.hits)
                run.transcript.refusals = memory.refusals

    def _control(self, run: QueryRun, tools: Tools, memory: Memory) -> None:
        """Run the query under the controller, by a contract over its graph and its sources."""
        limits = self.settings.limits(self._most_traces())
        contract = Contract(tools.graph, run.query.collection.texts, limits, memory.readable)
        controller = Controller(self._operators(), self.reader)
        controller.run(run.query.question, tools, memory, contract, self._carrier(contract), run.transcript)

    def _pool(self) -> MemoryPool:
        """Open the workload's memory."""
        return Pool(self.workload, self.memory_file, self.settings.memory)

    def _operators(self) -> dict[Role, dspy.Module]:
        """Say who proposes what."""
        return {
            Role.PLANNER: self.planner,
            Role.NAVIGATOR: self.navigator,
            Role.RETRIEVER: self.retriever,
            Role.VERIFIER: self.verifier,
        }

    def _carrier(self, contract: Contract) -> Carrier:
        """Make what carries the state from role to role."""
        return TypedCarrier(contract)

    def _most_traces(self) -> int:
        """Say how many traces a path may have."""
        navigation = self.settings.navigation
        return navigation.traces * (1 if navigation.paths == "one" else MAX_TARGETS + 1)

    def _tools(self, run: QueryRun, graph: TypedGraph, memory: Memory) -> Tools:
        """Bind what the roles work with in this query."""
        runtime = self.runtime
        return Tools(
            settings=self.settings,
            reader=runtime.reader,
            auxiliary=runtime.auxiliary,
            encoder=runtime.encoder,
            cross_encoder=runtime.cross_encoder,
            graph=graph,
            ledger=run.ledger,
            memories={role: memory.handle(role) for role in OPERATORS},
        )

    def _graph(self, run: QueryRun, memory: Memory) -> TypedGraph:
        """Find the collection's graph among those already built, or build it."""
        collection = run.query.collection

        def build() -> TypedGraph:
            with run.ledger.scope("abstraction", Phase.INDEX):
                return self._built(collection, memory)

        return self.indexes.get(collection.digest, run.query.position, build, GraphCodec())

    def _built(self, collection: Collection, memory: Memory) -> TypedGraph:
        """Build a collection's graph."""
        return build_graph(collection, self.runtime.encoder, self._abstractor(), self.settings, reuse_of(memory))

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


def reuse_of(memory: Memory) -> Reuse:
    """Let the builder find abstractions in global memory, and offer new ones, through the Navigator's door."""
    door = memory.handle(Role.NAVIGATOR)

    def recall(key: str) -> str | None:
        payload = door.recall_many(Kind.ABSTRACTION, [key]).get(key)
        return None if payload is None else str(payload["text"])

    def remember(key: str, text: str, provenance: tuple[str, ...]) -> None:
        door.offer(Kind.ABSTRACTION, key, {"text": text}, provenance, MemoryScope.GLOBAL)

    return Reuse(recall, remember)
