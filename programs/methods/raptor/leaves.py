"""Segments of whole sentences, as many as fit, with exact offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from programs.documents.collection import Collection, Source
from programs.documents.sentences import sentence_ends
from programs.models.encoders.encoder import Encoder
from programs.models.encoders.long_text import Spans, long_text_spans
from programs.tam.segment import Segment


def sentence_segments(collection: Collection, encoder: Encoder, tokens: int) -> list[Segment]:
    """Cut every source into segments of at most `tokens` encoder tokens, between sentences where that is possible."""
    return [segment for source in collection.each() for segment in _packed(source, encoder, tokens)]


def _packed(source: Source, encoder: Encoder, tokens: int) -> Iterator[Segment]:
    spans = long_text_spans(encoder, source.text)
    first = 0
    for count in pack(sentence_sizes(source.text, spans), tokens):
        start, end = int(spans[first, 0]), int(spans[first + count - 1, 1])
        yield Segment(source.source_id, start, end, source.text[start:end])
        first += count


def sentence_sizes(text: str, spans: Spans) -> list[int]:
    """Count the tokens of each sentence that has any. A token is of the sentence that it starts in."""
    sentences = np.searchsorted(sentence_ends(text), spans[:, 0], side="right")
    _, counts = np.unique(sentences, return_counts=True)
    sizes: list[int] = counts.tolist()
    return sizes


def pack(sizes: Sequence[int], most: int) -> list[int]:
    """Add sizes up, in order, to sums of at most `most`; a size above it is cut into pieces."""
    sums: list[int] = []
    held = 0
    for size in sizes:
        if held and held + size > most:
            sums.append(held)
            held = 0
        while size > most:
            sums.append(most)
            size -= most
        held += size
    return [*sums, held] if held else sums
