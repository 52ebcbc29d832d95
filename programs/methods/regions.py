"""The plain index that several methods search: regions of the sources and their vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from programs.documents.collection import Collection
from programs.models.encoder import Encoder, Vectors
from programs.state import Address, Derived, EvidenceRecord
from programs.tam.segment import Region, segment

if TYPE_CHECKING:
    from programs.methods.program import Program, QueryRun

Addresses = list[tuple[str, int, int]]
"""Regions as an index on disk has them; their texts are the collection's own."""


@dataclass(frozen=True)
class RegionIndex:
    """Regions in source order, and one unit vector each."""

    regions: tuple[Region, ...]
    vectors: Vectors

    @classmethod
    def of(cls, regions: Sequence[Region], encoder: Encoder) -> RegionIndex:
        """Encode regions."""
        return cls(tuple(regions), encoder.encode_passages([region.text for region in regions]))

    def nearest(self, question: str, encoder: Encoder) -> npt.NDArray[np.intp]:
        """Order all regions by similarity to a question, ties in source order."""
        similarity = self.similarity(question, encoder)
        order: npt.NDArray[np.intp] = np.argsort(-similarity, kind="stable")
        return order

    def similarity(self, question: str, encoder: Encoder) -> npt.NDArray[np.float32]:
        """Give each region's cosine with a question."""
        cosines: npt.NDArray[np.float32] = self.vectors @ encoder.encode_queries([question])[0]
        return cosines


def region_index(program: Program, run: QueryRun, tokens: int | None = None, overlap: int | None = None) -> RegionIndex:
    """Give a collection's index: in windows of StateRAG's size, unless a method has its own."""
    collection, encoder, tam = run.query.collection, program.runtime.encoder, program.settings.tam
    size = tam.region_tokens if tokens is None else tokens
    shared = tam.overlap_tokens if overlap is None else overlap

    def build() -> RegionIndex:
        return RegionIndex.of(segment(collection, encoder, size, shared, tam.boundaries), encoder)

    return program.indexes.get(collection.digest, run.query.position, build, RegionCodec(collection))


@dataclass(frozen=True)
class RegionCodec:
    """Addresses as JSON and vectors as a plain array; the texts are the collection's own."""

    collection: Collection

    def save(self, index: RegionIndex, folder: Path) -> None:
        """Write regions.json and vectors.npy."""
        (folder / "regions.json").write_text(json.dumps(addresses(index.regions)), encoding="utf-8")
        np.save(folder / "vectors.npy", index.vectors, allow_pickle=False)

    def load(self, folder: Path) -> RegionIndex:
        """Read them again."""
        regions = located(json.loads((folder / "regions.json").read_text(encoding="utf-8")), self.collection)
        return RegionIndex(regions, np.load(folder / "vectors.npy", allow_pickle=False))


def addresses(regions: Iterable[Region]) -> Addresses:
    """Say where regions stand."""
    return [(region.source_id, region.start, region.end) for region in regions]


def located(stored: Addresses, collection: Collection) -> tuple[Region, ...]:
    """Read regions from where they stand."""
    texts = collection.texts
    return tuple(Region(source, start, end, texts[source][start:end]) for source, start, end in stored)


def derived_record(kind: str, text: str, regions: Sequence[Region], key: str) -> EvidenceRecord:
    """Give a text that a model made from regions as evidence, named by its content key."""
    first = regions[0]
    return EvidenceRecord(
        evidence_id=f"{kind}:{key[:16]}",
        source_id=first.source_id,
        start=first.start,
        end=first.end,
        text=text,
        cycle=0,
        derived=Derived(
            kind=kind,
            regions=tuple(Address(source_id=source, start=start, end=end) for source, start, end in addresses(regions)),
        ),
    )
