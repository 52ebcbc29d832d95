"""Questions whose sources lack what their answers need: to see whether a system knows that it does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, Reference

Span = tuple[int, int]
"""Characters [start, end) of a source."""

ENDING = "/unanswerable"
"""What is written behind a workload's name to have it so."""


def without_support(example: Example) -> Example:
    """Take the passages, or else the sources, that the answer needs out of the sources. Nothing is right then."""
    needed, query = example.reference, example.query
    if not (needed.passages or needed.supporting):
        raise InputError(f"{query.query_id}: nobody says which passages its answer needs, so they can't be taken out")
    spans = {source.source_id: _needed(source, needed) for source in query.collection.each()}
    return Example(
        query=query.model_copy(update={"collection": _without(query.collection, spans)}),
        reference=Reference(query_id=query.query_id, answers=(), answerable=False, cluster=needed.cluster),
    )


def _needed(source: Source, needed: Reference) -> list[Span]:
    """Give the spans of a source that the answer needs."""
    if not needed.passages:
        return [(0, len(source.text))] if source.source_id in needed.supporting else []
    passages = (passage for group in needed.passages for passage in group if passage.source_id == source.source_id)
    return sorted({(passage.start, passage.end) for passage in passages})


def _without(collection: Collection, spans: Mapping[str, Sequence[Span]]) -> Collection:
    """Cut spans out of sources, and out of the text that these are passages of. A source with nothing left is gone."""
    whole = collection.cut_from
    gone = [
        (source.start + start, source.start + end)
        for source in collection.each()
        for start, end in spans[source.source_id]
    ]
    kept = [
        Source(
            source_id=source.source_id,
            text=_cut(source.text, spans[source.source_id]),
            start=source.start - sum(end - start for start, end in gone if end <= source.start) if whole else 0,
        )
        for source in collection.each()
    ]
    return Collection(
        sources=tuple(source for source in kept if source.text.strip()),
        cut_from=whole and Source(source_id=whole.source_id, text=_cut(whole.text, gone)),
    )


def _cut(text: str, spans: Sequence[Span]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
