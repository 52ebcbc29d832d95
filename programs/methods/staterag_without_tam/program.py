"""StateRAG without TAM: no typed construction, no typed paths, no typed navigation; all else is StateRAG's."""

from __future__ import annotations

from dataclasses import replace

from programs.documents.collection import Collection
from programs.memory.memory import Memory
from programs.methods.base import QueryRun
from programs.methods.staterag.program import StateRAG
from programs.methods.staterag_without_tam.flat_graph import flat_graph
from programs.methods.staterag_without_tam.flat_navigator import FlatNavigator
from programs.roles.view import Tools
from programs.tam.graph import TypedGraph


class StateRAGWithoutTAM(StateRAG):
    """Candidates are the regions nearest to the query and to the plan's targets, of all that there are."""

    name = "staterag-without-tam"

    def assemble(self) -> None:
        """Navigate flat, and abstract nothing."""
        super().assemble()
        self.navigator = FlatNavigator()
        del self.abstraction

    def _built(self, collection: Collection, memory: Memory) -> TypedGraph:
        return flat_graph(collection, self.runtime.encoder, self.settings.tam)

    def _most_traces(self) -> int:
        """Let a path have a trace for each candidate."""
        return self.settings.retriever.rerank

    def _tools(self, run: QueryRun, graph: TypedGraph, memory: Memory) -> Tools:
        """Have the Retriever prefer no candidate for being where a trace ends, since each is."""
        retriever = self.settings.retriever.model_copy(update={"terminals": False})
        settings = self.settings.model_copy(update={"retriever": retriever})
        return replace(super()._tools(run, graph, memory), settings=settings)
