"""RAPTOR as a program: grow the tree, then search all of its nodes at once."""

from __future__ import annotations

from collections.abc import Sequence

import dspy
import numpy as np

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.prompt_room import room
from programs.methods.raptor.leaves import sentence_segments
from programs.methods.raptor.settings import RaptorSettings
from programs.methods.raptor.tree import Tree, TreeCodec, grow
from programs.state import EvidenceRecord
from signatures.baselines.raptor import SummariseCluster


class Raptor(EvidenceProgram):
    """The nodes of any layer that are nearest to the question: the collapsed tree."""

    name = "raptor"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.summarise = dspy.Predict(SummariseCluster)

    def index(self, run: QueryRun) -> Tree:
        """Grow the collection's tree, or find it among those already grown."""
        collection, encoder, settings = run.query.collection, self.runtime.encoder, self.settings.of(RaptorSettings)
        limit = min(settings.cluster_tokens, room(self.runtime, settings.summary_tokens))

        def build() -> Tree:
            leaves = sentence_segments(collection, encoder, settings.leaf_tokens)
            return grow(leaves, encoder, settings, limit, lambda clusters: self._summaries(run, clusters))

        return self.indexes.get(collection.digest, run.query.position, build, TreeCodec(collection))

    def select(self, run: QueryRun, index: Tree) -> Sequence[EvidenceRecord]:
        """Take nodes by similarity, ties by number, up to the first that would be too much."""
        settings, encoder = self.settings.of(RaptorSettings), self.runtime.encoder
        similarity = index.vectors @ encoder.encode_queries([run.query.question])[0]
        chosen: list[EvidenceRecord] = []
        left = settings.max_tokens
        for node in np.argsort(-similarity, kind="stable")[: settings.top_k].tolist():
            left -= len(encoder.spans(index.text(node)))
            if left < 0 and chosen:
                break
            chosen.append(index.record(node))
        return chosen

    def _summaries(self, run: QueryRun, clusters: Sequence[Sequence[str]]) -> list[str | None]:
        answers = run.ask_all(
            self.summarise,
            "summary",
            self.settings.of(RaptorSettings).summary_tokens,
            [{"passages": joined(texts)} for texts in clusters],
        )
        return [None if answer is None else answer.summary for answer in answers]


def joined(texts: Sequence[str]) -> str:
    """Write a cluster's texts as paragraphs, each on one line."""
    return "\n\n".join(" ".join(text.split()) for text in texts)
