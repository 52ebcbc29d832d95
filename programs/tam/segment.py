"""Evidence regions: windows of encoder tokens that know exactly which characters of which source they are."""

from __future__ import annotations

from dataclasses import dataclass

from programs.contract import evidence_id
from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.models.encoder import Encoder
from programs.state import EvidenceRecord


@dataclass(frozen=True, slots=True)
class Region:
    """Characters [start, end) of a source."""

    source_id: str
    start: int
    end: int
    text: str

    @property
    def evidence_id(self) -> str:
        """The region's address, by which it is named everywhere else."""
        return evidence_id(self.source_id, self.start, self.end)

    def record(self, cycle: int = 0) -> EvidenceRecord:
        """Give the region as evidence."""
        return EvidenceRecord(
            evidence_id=self.evidence_id,
            source_id=self.source_id,
            start=self.start,
            end=self.end,
            text=self.text,
            cycle=cycle,
        )


def segment(collection: Collection, encoder: Encoder, tokens: int, overlap: int) -> list[Region]:
    """Cut every source into windows, in source order. A source without tokens has none."""
    if not 0 <= overlap < tokens:
        raise InputError(
            f"tam.overlap_tokens is {overlap} and tam.region_tokens is {tokens}: "
            "the overlap must be at least 0 and less than the region, or the windows would not advance"
        )
    return [region for source in collection.each() for region in _windows(source, encoder, tokens, overlap)]


def _windows(source: Source, encoder: Encoder, tokens: int, overlap: int) -> list[Region]:
    spans = encoder.spans(source.text)
    regions: list[Region] = []
    reached = 0
    for first in range(0, len(spans), tokens - overlap):
        last = min(first + tokens, len(spans)) - 1
        start, end = spans[first][0], spans[last][1]
        # A character can be several tokens, so a window may reach no further than the one before it.
        if end > max(start, reached):
            regions.append(Region(source.source_id, start, end, source.text[start:end]))
            reached = end
        if last == len(spans) - 1:
            break
    return regions
