"""GraphRAG as a program: the index is built by a model, step after step, and searched locally or globally."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.communities import find_communities
from programs.methods.graphrag.describe import Descriptions
from programs.methods.graphrag.extract import Extraction
from programs.methods.graphrag.global_search import GlobalSearch
from programs.methods.graphrag.knowledge import KnowledgeIndex
from programs.methods.graphrag.local_search import local_search
from programs.methods.graphrag.merge import merge
from programs.methods.graphrag.reports import Reporting
from programs.methods.graphrag.settings import GraphragSettings
from programs.methods.graphrag.store import KnowledgeCodec
from programs.state import EvidenceRecord
from programs.tam.segment import segment


class GraphRAG(EvidenceProgram):
    """Entities, relationships, communities, reports; then the evidence around a question."""

    name = "graphrag"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.extraction = Extraction()
        self.descriptions = Descriptions()
        self.reporting = Reporting()
        self.global_search = GlobalSearch()

    def index(self, run: QueryRun) -> KnowledgeIndex:
        """Build the collection's graph and reports, or find them among those already built."""
        collection = run.query.collection
        return self.indexes.get(
            collection.digest, run.query.position, lambda: self._build(run), KnowledgeCodec(collection)
        )

    def select(self, run: QueryRun, index: KnowledgeIndex) -> Sequence[EvidenceRecord]:
        """Search. Where nothing was extracted there is no graph, and the nearest text units have to do."""
        settings, encoder, question = self.settings.of(GraphragSettings), self.runtime.encoder, run.query.question
        if not index.units:
            return []
        if not index.graph.entities:
            similarity = index.unit_vectors @ encoder.encode_queries([question])[0]
            return [index.units[i].record() for i in np.argsort(-similarity, kind="stable")]
        if settings.search == "global":
            return self.global_search.search(index, Asking(run), settings)
        return local_search(question, index, encoder, settings, self.settings.lifecycle.reader_budget)

    def _build(self, run: QueryRun) -> KnowledgeIndex:
        settings, encoder = self.settings.of(GraphragSettings), self.runtime.encoder
        asking, budget = Asking(run), self.settings.lifecycle.reader_budget
        size, overlap = settings.unit_tokens(budget), settings.unit_overlap(budget)
        units = segment(run.query.collection, encoder, size, overlap, self.settings.tam.boundaries)
        merged = merge(self.extraction.find([unit.text for unit in units], asking, settings))
        graph = self.descriptions.describe(merged, asking, settings)
        edges = [(pair.source, pair.target, pair.weight) for pair in graph.relationships]
        communities = find_communities(len(graph.entities), edges, settings)
        titled = [f"{entity.title}: {entity.description}" for entity in graph.entities]
        return KnowledgeIndex(
            units=tuple(units),
            graph=graph,
            communities=communities,
            reports=self.reporting.report(graph, communities, asking, settings),
            entity_vectors=encoder.encode_passages(titled),
            unit_vectors=encoder.encode_passages([] if graph.entities else [unit.text for unit in units]),
        )
