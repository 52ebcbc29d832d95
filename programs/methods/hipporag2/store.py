"""The index of a collection, and how it is kept: what was computed is written, what follows from it is not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from programs.methods.hipporag2.openie import Triple
from programs.methods.hipporag2.phrase_graph import FactBase, PhraseGraph, fact_base, link
from programs.methods.hipporag2.synonymy import Synonyms
from programs.methods.indexes import read_parts, write_parts
from programs.methods.segments import CollectionCodec, SegmentIndex, addresses, located
from programs.models.encoders.encoder import Vectors


@dataclass(frozen=True)
class HippoIndex:
    """Passages, facts, and the graph that joins them."""

    passages: SegmentIndex
    base: FactBase
    fact_vectors: Vectors
    synonyms: Synonyms
    graph: PhraseGraph


def assemble(passages: SegmentIndex, base: FactBase, fact_vectors: Vectors, synonyms: Synonyms) -> HippoIndex:
    """Make an index of its parts."""
    return HippoIndex(passages, base, fact_vectors, synonyms, link(base, synonyms, len(passages.segments)))


class HippoCodec(CollectionCodec):
    """Triples as JSON, vectors and synonyms as plain arrays; the graph is made again when it is read."""

    def save(self, index: HippoIndex, folder: Path) -> None:
        """Write the passages' addresses, the triples, and what was computed of them."""
        write_parts(
            folder,
            {"passages": addresses(index.passages.segments), "triples": index.base.triples},
            vectors=index.passages.vectors,
            facts=index.fact_vectors,
            synonyms=index.synonyms.pairs,
            cosines=index.synonyms.cosines,
        )

    def load(self, folder: Path) -> HippoIndex:
        """Read them again."""
        body, arrays = read_parts(folder)
        triples: list[list[Triple]] = [[(s, relation, o) for s, relation, o in passage] for passage in body["triples"]]
        passages = SegmentIndex(located(body["passages"], self.collection), arrays["vectors"])
        synonyms = Synonyms(arrays["synonyms"], arrays["cosines"])
        return assemble(passages, fact_base(triples), arrays["facts"], synonyms)
