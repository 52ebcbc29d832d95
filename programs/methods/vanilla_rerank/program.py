"""The nearest segments, reranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.base import QueryRun
from programs.methods.segments import SegmentIndex
from programs.methods.vanilla.program import Vanilla
from programs.methods.vanilla_rerank.settings import VanillaRerankSettings
from programs.state import EvidenceRecord


class VanillaRerank(Vanilla):
    """The k best of the nearest by StateRAG's own cross-encoder: parts what the state adds from what reranking adds."""

    name = "vanilla-rerank"

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Rerank the nearest and take the k best, ties in order of similarity."""
        settings = self.settings.of(VanillaRerankSettings)
        head = index.nearest(run.query.question, self.runtime.encoder)[: settings.candidates]
        if self.runtime.cross_encoder is None or not len(head):
            return [index.segments[i].record() for i in head[: settings.k]]
        scores = self.runtime.cross_encoder.score(run.query.question, [index.segments[i].text for i in head])
        best = head[np.argsort(-scores, kind="stable")]
        return [index.segments[i].record() for i in best[: settings.k]]
