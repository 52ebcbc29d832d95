"""Questions whose sources lack what their answers need: to see whether a system knows that it does not know."""

from __future__ import annotations

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, Reference

ENDING = "/unanswerable"
"""What is written behind a workload's name to have it so."""


def without_support(example: Example) -> Example:
    """Take the passages, or else the sources, that the answer needs out of the sources. Nothing is right then."""
    needed, query = example.reference, example.query
    if not (needed.passages or needed.supporting):
        raise InputError(f"{query.query_id}: nobody says which passages its answer needs, so they can't be taken out")
    spans: dict[str, list[tuple[int, int]]] = {}
    for passage in (passage for group in needed.passages for passage in group):
        spans.setdefault(passage.source_id, []).append((passage.start, passage.end))
    gone = set() if needed.passages else set(needed.supporting)
    kept = [
        Source(source_id=source.source_id, text=_without(source.text, spans.get(source.source_id, [])))
        for source in query.collection.each()
        if source.source_id not in gone
    ]
    return Example(
        query=query.model_copy(update={"collection": Collection(sources=tuple(kept))}),
        reference=Reference(query_id=query.query_id, answers=(), answerable=False, cluster=needed.cluster),
    )


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
