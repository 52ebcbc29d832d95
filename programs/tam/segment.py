"""Evidence regions: windows of encoder tokens that know exactly which characters of which source they are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from programs.contract import evidence_id
from programs.documents.collection import Collection, Source
from programs.documents.sections import section_starts
from programs.documents.sentences import each_sentence_end
from programs.errors import InputError
from programs.models.encoders.encoder import Encoder
from programs.models.encoders.long_text import Spans, long_text_spans
from programs.settings import Boundaries
from programs.state import EvidenceRecord

LEAST = 8
"""The part of a window, 1 / LEAST, below which a section is too short for a region of its own."""


@dataclass(frozen=True, slots=True)
class Segment:
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
        return EvidenceRecord(evidence_id=self.evidence_id, cycle=cycle, **asdict(self))


Places = Sequence[int] | npt.NDArray[np.intp]


@dataclass(frozen=True)
class _Breaks:
    """The tokens of a source at which a region may begin, in order."""

    sentences: Places
    sections: Places
    """Those at which a region does begin, unless too little would stand before it."""


def segment(
    collection: Collection, encoder: Encoder, tokens: int, overlap: int, boundaries: Boundaries = "tokens"
) -> list[Segment]:
    """Cut every source into windows, in source order. A source without tokens has none."""
    if not 0 <= overlap < tokens:
        raise InputError(
            f"tam.overlap_tokens is {overlap} and tam.region_tokens is {tokens}: "
            "the overlap must be at least 0 and less than the region, or the windows would not advance"
        )
    return [region for source in collection.each() for region in _windows(source, encoder, tokens, overlap, boundaries)]


def _windows(source: Source, encoder: Encoder, tokens: int, overlap: int, boundaries: Boundaries) -> list[Segment]:
    spans = long_text_spans(encoder, source.text)
    breaks = _text_breaks(source.text, spans) if boundaries == "sentences" else _Breaks(range(len(spans)), ())
    regions: list[Segment] = []
    first = reached = 0
    while first < len(spans):
        last = _end(first, tokens, breaks, len(spans))
        start, end = int(spans[first, 0]), int(spans[last - 1, 1])
        # A character can be several tokens, so a window may reach no further than the one before it.
        if end > max(start, reached):
            regions.append(Segment(source.source_id, start, end, source.text[start:end]))
            reached = end
        first = last if last == len(spans) else _start(first, last, overlap, breaks)
    return regions


def _text_breaks(text: str, spans: Spans) -> _Breaks:
    starts = np.ascontiguousarray(spans[:, 0])
    sentences, sections = (
        np.unique(np.searchsorted(starts, np.fromiter(offsets, np.int32)))
        for offsets in (each_sentence_end(text), section_starts(text))
    )
    return _Breaks(sentences, sections)


def _end(first: int, tokens: int, breaks: _Breaks, size: int) -> int:
    """End a window before a section, else after as many sentences as fit, else, in a long one, where it is full."""
    full = min(first + tokens, size)
    section = _next(breaks.sections, first + max(1, tokens // LEAST))
    if section is not None and section <= full:
        return section
    at = bisect_right(breaks.sentences, full)
    return full if full == size or at == 0 or breaks.sentences[at - 1] <= first else int(breaks.sentences[at - 1])


def _start(first: int, last: int, overlap: int, breaks: _Breaks) -> int:
    """Begin the next window with the sentences that fit the overlap, but with none of the section before."""
    if _next(breaks.sections, last) == last:
        return last
    start = _next(breaks.sentences, max(last - overlap, first + 1))
    return last if start is None else min(start, last)


def _next(places: Places, least: int) -> int | None:
    at = bisect_left(places, least)
    return int(places[at]) if at < len(places) else None
