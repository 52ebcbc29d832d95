"""HippoRAG 2: facts of the passages are recognised for a question, and a walk from their phrases ranks passages.

Where it differs from the published code: passages are the project's segments; the encoder takes no instruction, so one
vector of the question is compared with facts and with passages alike; the recognition memory answers with the numbers
of facts; its demonstrations and those of the extractions are the project's own, shorter and fewer than the ten that
were compiled for another model; and no broken JSON is mended.
"""

from __future__ import annotations

from collections.abc import Sequence

import dspy
import numpy as np

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.hipporag2.demonstrations import ENTITIES, RECOGNITION, TRIPLES
from programs.methods.hipporag2.openie import Extractor
from programs.methods.hipporag2.phrase_graph import fact_base
from programs.methods.hipporag2.rank import Scores, min_max, passage_scores, phrase_weights, seeds
from programs.methods.hipporag2.recognition import nearest_facts, numbered_facts, recognised
from programs.methods.hipporag2.settings import Hipporag2Settings
from programs.methods.hipporag2.store import HippoCodec, HippoIndex, assemble
from programs.methods.hipporag2.synonymy import find_synonyms
from programs.methods.segments import SegmentIndex
from programs.state import EvidenceRecord
from programs.tam.segment import segment
from signatures.baselines.hipporag2 import FindEntities, FindTriples, RecogniseFacts


class HippoRAG2(EvidenceProgram):
    """Indexes with two calls a passage, answers with one call and a PageRank."""

    name = "hipporag2"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.find_entities = dspy.Predict(FindEntities)
        self.find_triples = dspy.Predict(FindTriples)
        self.recognise = dspy.Predict(RecogniseFacts)
        self.find_entities.demos, self.find_triples.demos = list(ENTITIES), list(TRIPLES)
        self.recognise.demos = list(RECOGNITION)

    @property
    def own(self) -> Hipporag2Settings:
        """The method's own settings."""
        return self.settings.of(Hipporag2Settings)

    def index(self, run: QueryRun) -> HippoIndex:
        """Give the collection's graph."""
        collection = run.query.collection
        return self.indexes.get(collection.digest, run.query.position, lambda: self._build(run), HippoCodec(collection))

    def select(self, run: QueryRun, index: HippoIndex) -> Sequence[EvidenceRecord]:
        """Rank passages by the walk, or by similarity alone where no fact was recognised."""
        if not index.passages.segments:
            return []
        question = self.runtime.encoder.encode_queries([run.query.question])[0]
        dense = min_max(index.passages.vectors @ question)
        fact_scores = min_max(index.fact_vectors @ question)
        kept = self._recognised(run, index, fact_scores)
        scores = self._walk(index, kept, fact_scores, dense) if kept else dense
        ranked = np.argsort(-scores, kind="stable")[: self.own.retrieval_top_k]
        return [index.passages.segments[i].record() for i in ranked[: self.own.qa_top_k]]

    def _build(self, run: QueryRun) -> HippoIndex:
        encoder, tam, own = self.runtime.encoder, self.settings.tam, self.own
        segments = segment(run.query.collection, encoder, tam.region_tokens, tam.overlap_tokens, tam.boundaries)
        texts = [segment.text for segment in segments]
        passages = SegmentIndex.of(segments, encoder)
        extractor = Extractor(self.find_entities, self.find_triples, encoder, own)
        base = fact_base(extractor.extract(run, texts))
        synonyms = find_synonyms(
            base.phrases,
            encoder.encode_passages(base.phrases),
            own.synonymy_threshold,
            own.synonymy_neighbours,
            own.synonymy_characters,
        )
        return assemble(passages, base, encoder.encode_passages([base.text(f) for f in base.facts]), synonyms)

    def _recognised(self, run: QueryRun, index: HippoIndex, scores: Scores) -> list[int]:
        candidates = nearest_facts(scores, self.own.linking_top_k)
        if not candidates:
            return []
        answer = run.ask(
            self.recognise,
            "recognition",
            self.own.filter_tokens,
            question=run.query.question,
            facts=numbered_facts(index.base, candidates),
        )
        return recognised(candidates, answer.kept.relevant) if answer else []

    def _walk(self, index: HippoIndex, kept: Sequence[int], fact_scores: Scores, dense: Scores) -> Scores:
        facts = [(index.base.facts[n], float(fact_scores[n])) for n in kept]
        phrases = phrase_weights(facts, index.graph.spread, self.own.linking_top_k)
        reset = seeds(phrases, dense * self.own.passage_node_weight, index.graph)
        return passage_scores(index.graph, reset, self.own.damping) if reset.any() else dense
