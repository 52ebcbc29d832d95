"""Flat fusion."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST_CANDIDATES, Count
from programs.frozen import Frozen


class FlatFusionSettings(Frozen):
    """The control: all segments, or the nearest, in the order that StateRAG's Retriever gives its candidates."""

    pool: int | None = Field(
        40,
        ge=1,
        le=MOST_CANDIDATES,
        description="the nearest segments that are ranked; None ranks all, which a corpus makes slow",
    )
    records: Count = Field(7, description="segments handed to the reader; as many as StateRAG ships to keep first")
