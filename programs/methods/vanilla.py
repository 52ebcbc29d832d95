"""Vanilla RAG: the regions most similar to the question, best first. And its control, the same top regions reranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.program import EvidenceProgram, QueryRun
from programs.methods.regions import RegionIndex, region_index
from programs.state import EvidenceRecord


class Vanilla(EvidenceProgram):
    """Top-k by cosine."""

    name = "vanilla"

    def index(self, run: QueryRun) -> RegionIndex:
        """Cut the sources into the same regions as StateRAG's and encode them."""
        return region_index(self, run)

    def select(self, run: QueryRun, index: RegionIndex) -> Sequence[EvidenceRecord]:
        """Take the k nearest."""
        order = index.nearest(run.query.question, self.runtime.encoder)
        return [index.regions[i].record() for i in order[: self.settings.vanilla.k]]


class VanillaRerank(Vanilla):
    """The k best of the nearest by StateRAG's own cross-encoder: parts what the state adds from what reranking adds."""

    name = "vanilla-rerank"

    def select(self, run: QueryRun, index: RegionIndex) -> Sequence[EvidenceRecord]:
        """Rerank the nearest and take the k best, ties in order of similarity."""
        settings = self.settings.vanilla_rerank
        head = index.nearest(run.query.question, self.runtime.encoder)[: settings.candidates]
        if self.runtime.cross_encoder is None or not len(head):
            return [index.regions[i].record() for i in head[: settings.k]]
        scores = self.runtime.cross_encoder.score(run.query.question, [index.regions[i].text for i in head])
        best = head[np.argsort(-scores, kind="stable")]
        return [index.regions[i].record() for i in best[: settings.k]]
