"""Segments by StateRAG's fused ranking, with no plan, no graph, no verdict and no model but the reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.flat_fusion.settings import FlatFusionSettings
from programs.methods.segments import SegmentIndex, segment_index
from programs.models.encoders.encoder import CrossEncoder
from programs.models.runtime import required_cross_encoder
from programs.roles.excerpts import excerpts
from programs.roles.fitted import by_weights
from programs.roles.relevance import fused
from programs.state import EvidenceRecord


class FlatFusion(EvidenceProgram):
    """The ranking by itself."""

    name = "flat-fusion"

    def assemble(self) -> None:
        """Refuse to begin without what it ranks with."""
        self._scorer()

    def index(self, run: QueryRun) -> SegmentIndex:
        """Cut the sources into the same segments as StateRAG's and encode them."""
        return segment_index(self, run)

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Rank the nearest by all opinions together, ties in order of similarity."""
        settings, question, encoder = self.settings.of(FlatFusionSettings), run.query.question, self.runtime.encoder
        pool = [index.segments[i] for i in index.nearest(question, encoder)[: settings.pool]]
        if not pool:
            return []
        texts, retriever = [segment.text for segment in pool], self.settings.retriever
        if retriever.ranker == "fitted":
            scores = by_weights(question, texts, encoder, self._scorer(), self.settings.ranking)
        else:
            scores = fused(question, (), texts, encoder, self._scorer())
        best = [pool[i].record() for i in np.argsort(-scores, kind="stable")[: settings.records]]
        return excerpts(best, (question,), self._scorer(), retriever.sentences)

    def _scorer(self) -> CrossEncoder:
        return required_cross_encoder(self.name, self.runtime)
