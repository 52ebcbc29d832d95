"""The nearest segments, reranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.base import QueryRun
from programs.methods.segments import SegmentIndex
from programs.methods.vanilla.program import Vanilla
from programs.methods.vanilla_rerank.settings import VanillaRerankSettings
from programs.models.encoders.encoder import CrossEncoder
from programs.models.runtime import required_cross_encoder
from programs.state import EvidenceRecord


class VanillaRerank(Vanilla):
    """The k best of the nearest by StateRAG's own cross-encoder: parts what the state adds from what reranking adds."""

    name = "vanilla-rerank"

    def assemble(self) -> None:
        """Refuse to begin without what it ranks with: without it, this would be Vanilla RAG under another name."""
        self._scorer()

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Rerank the nearest and take the k best, ties in order of similarity."""
        settings = self.settings.of(VanillaRerankSettings)
        head = index.nearest(run.query.question, self.runtime.encoder)[: settings.candidates]
        if not len(head):
            return []
        scores = self._scorer().score(run.query.question, [index.segments[i].text for i in head])
        best = head[np.argsort(-scores, kind="stable")]
        return [index.segments[i].record() for i in best[: settings.k]]

    def _scorer(self) -> CrossEncoder:
        return required_cross_encoder(self.name, self.runtime)
