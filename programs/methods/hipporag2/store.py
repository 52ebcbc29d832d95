"""The index of a collection, and how it is kept: what was computed is written, what follows from it is not."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from programs.documents.collection import Collection
from programs.methods.hipporag2.openie import Triple
from programs.methods.hipporag2.phrase_graph import FactBase, PhraseGraph, fact_base, link
from programs.methods.hipporag2.synonymy import Synonyms
from programs.methods.segments import SegmentCodec, SegmentIndex
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


@dataclass(frozen=True)
class HippoCodec:
    """Triples as JSON, vectors and synonyms as plain arrays; the graph is made again when it is read."""

    collection: Collection

    def save(self, index: HippoIndex, folder: Path) -> None:
        """Write the segments' files, triples.json, fact_vectors.npy, synonyms.npy and cosines.npy."""
        SegmentCodec(self.collection).save(index.passages, folder)
        (folder / "triples.json").write_text(json.dumps(index.base.triples, ensure_ascii=False), encoding="utf-8")
        np.save(folder / "fact_vectors.npy", index.fact_vectors, allow_pickle=False)
        np.save(folder / "synonyms.npy", index.synonyms.pairs, allow_pickle=False)
        np.save(folder / "cosines.npy", index.synonyms.cosines, allow_pickle=False)

    def load(self, folder: Path) -> HippoIndex:
        """Read them again."""
        stored = json.loads((folder / "triples.json").read_text(encoding="utf-8"))
        triples: list[list[Triple]] = [[(s, relation, o) for s, relation, o in passage] for passage in stored]
        pairs, cosines = (np.load(folder / name, allow_pickle=False) for name in ("synonyms.npy", "cosines.npy"))
        return assemble(
            SegmentCodec(self.collection).load(folder),
            fact_base(triples),
            np.load(folder / "fact_vectors.npy", allow_pickle=False),
            Synonyms(pairs, cosines),
        )
