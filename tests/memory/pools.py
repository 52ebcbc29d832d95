"""A pool whose queries are all asked of one small collection, unless a test says otherwise."""

from __future__ import annotations

from typing import Any

from programs.documents.collection import Collection, Source
from programs.memory.pool import Pool, QueryMemory

SOURCES = Collection(sources=(Source(source_id="s", text="Herons wade."), Source(source_id="a", text="Ferries cross.")))


class SmallPool(Pool):
    """Opens queries over `SOURCES`."""

    def open(
        self, query_id: str, position: int, text: str, vector: Any = None, collection: Collection = SOURCES
    ) -> QueryMemory:
        return super().open(query_id, position, text, collection, vector)
