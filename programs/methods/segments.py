"""The plain index that several methods search: segments of the sources and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from programs.documents.collection import Collection
from programs.methods.indexes import read_parts, write_parts
from programs.models.encoders.encoder import Encoder, Vectors
from programs.state import Address, Derived, EvidenceRecord
from programs.tam.segment import Segment, segment

if TYPE_CHECKING:
    from programs.methods.base import Program, QueryRun

Addresses = list[tuple[str, int, int]]
"""Segments as an index on disk has them; their texts are the collection's own."""


@dataclass(frozen=True)
class SegmentIndex:
    """Segments in source order, and one unit vector each."""

    segments: tuple[Segment, ...]
    vectors: Vectors

    @classmethod
    def of(cls, segments: Sequence[Segment], encoder: Encoder) -> SegmentIndex:
        """Encode segments."""
        return cls(tuple(segments), encoder.encode_passages([segment.text for segment in segments]))

    def nearest(self, question: str, encoder: Encoder) -> npt.NDArray[np.intp]:
        """Order all segments by similarity to a question, ties in source order."""
        similarity = self.similarity(question, encoder)
        order: npt.NDArray[np.intp] = np.argsort(-similarity, kind="stable")
        return order

    def similarity(self, question: str, encoder: Encoder) -> npt.NDArray[np.float32]:
        """Give each segment's cosine with a question."""
        cosines: npt.NDArray[np.float32] = self.vectors @ encoder.encode_queries([question])[0]
        return cosines


def segment_index(
    program: Program, run: QueryRun, tokens: int | None = None, overlap: int | None = None
) -> SegmentIndex:
    """Give a collection's index: in windows of StateRAG's size, unless a method has its own."""
    collection, encoder, tam = run.query.collection, program.runtime.encoder, program.settings.tam
    size = tam.region_tokens if tokens is None else tokens
    shared = tam.overlap_tokens if overlap is None else overlap

    def build() -> SegmentIndex:
        return SegmentIndex.of(segment(collection, encoder, size, shared, tam.boundaries), encoder)

    return program.indexes.get(collection.digest, run.query.position, build, SegmentCodec(collection))


@dataclass(frozen=True)
class CollectionCodec:
    """What codecs share whose texts are the collection's own and not kept again."""

    collection: Collection


class SegmentCodec(CollectionCodec):
    """Addresses as JSON and vectors as a plain array."""

    def save(self, index: SegmentIndex, folder: Path) -> None:
        """Write the addresses and the vectors."""
        write_parts(folder, addresses(index.segments), vectors=index.vectors)

    def load(self, folder: Path) -> SegmentIndex:
        """Read them again."""
        body, arrays = read_parts(folder)
        return SegmentIndex(located(body, self.collection), arrays["vectors"])


def addresses(segments: Iterable[Segment]) -> Addresses:
    """Say where segments stand."""
    return [(segment.source_id, segment.start, segment.end) for segment in segments]


def located(stored: Addresses, collection: Collection) -> tuple[Segment, ...]:
    """Read segments from where they stand."""
    texts = collection.texts
    return tuple(Segment(source, start, end, texts[source][start:end]) for source, start, end in stored)


def derived_record(kind: str, text: str, segments: Sequence[Segment], key: str) -> EvidenceRecord:
    """Give a text that a model made from segments as evidence, named by its content key."""
    first = segments[0]
    return EvidenceRecord(
        evidence_id=f"{kind}:{key[:16]}",
        source_id=first.source_id,
        start=first.start,
        end=first.end,
        text=text,
        cycle=0,
        derived=Derived(
            kind=kind,
            regions=tuple(
                Address(source_id=source, start=start, end=end) for source, start, end in addresses(segments)
            ),
        ),
    )
