"""Questions whose sources are passages of one text, over that text as one source: for what cuts windows across it."""

from __future__ import annotations

from programs.documents.collection import Collection
from programs.errors import InputError
from programs.workloads.query import Example, GoldPassage

ENDING = "/whole"
"""What is written behind a workload's name to have it so."""


def over_whole_text(example: Example) -> Example:
    """Make the text that the sources were cut from the only source, and say where the gold passages are in it."""
    query, reference = example.query, example.reference
    text = query.collection.cut_from
    if text is None:
        raise InputError(f"{query.query_id}: its sources are no passages of one text, so there is none to be whole")
    starts = {source.source_id: source.start for source in query.collection.each()}

    def there(passage: GoldPassage) -> GoldPassage:
        start = starts[passage.source_id]
        place = {"source_id": text.source_id, "start": start + passage.start, "end": start + passage.end}
        return passage.model_copy(update=place)

    groups = tuple(tuple(map(there, group)) for group in reference.passages)
    return Example(
        query=query.model_copy(update={"collection": Collection(sources=(text,))}),
        reference=reference.model_copy(update={"passages": groups}),
    )
