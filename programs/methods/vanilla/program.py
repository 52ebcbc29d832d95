"""Vanilla RAG: the segments most similar to the question, best first."""

from __future__ import annotations

from collections.abc import Sequence

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.segments import SegmentIndex, segment_index
from programs.methods.vanilla.settings import VanillaSettings
from programs.state import EvidenceRecord


class Vanilla(EvidenceProgram):
    """Top-k by cosine."""

    name = "vanilla"

    def index(self, run: QueryRun) -> SegmentIndex:
        """Cut the sources into the same segments as StateRAG's and encode them."""
        return segment_index(self, run)

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Take the k nearest."""
        order = index.nearest(run.query.question, self.runtime.encoder)
        return [index.segments[i].record() for i in order[: self.settings.of(VanillaSettings).k]]
