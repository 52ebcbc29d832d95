"""A source collection: what one query may be answered from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from pydantic import Field, field_validator, model_validator

from programs.content_key import content_key
from programs.frozen import Frozen

CONTENT = 32
"""Digits of a name of a text."""


class Source(Frozen):
    """One document. Offsets everywhere else count its characters exactly as they stand here."""

    source_id: str
    text: str
    start: int = Field(0, ge=0, description="where it begins in the text that it was cut from, if it was")


class Collection(Frozen):
    """Sources in a fixed order, each id once."""

    sources: tuple[Source, ...]
    cut_from: Source | None = Field(None, description="the text that all sources are passages of, where there is one")

    @field_validator("sources")
    @classmethod
    def _ids_are_unique(cls, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        uses = Counter(source.source_id for source in sources)
        if len(uses) != len(sources):
            raise ValueError(f"a source id is repeated: {sorted(i for i, count in uses.items() if count > 1)}")
        return sources

    @model_validator(mode="after")
    def _passages_stand_where_they_say(self) -> Collection:
        if self.cut_from is not None:
            for source in self.sources:
                if not self.cut_from.text.startswith(source.text, source.start):
                    raise ValueError(f"{source.source_id!r} is not at {source.start} of {self.cut_from.source_id!r}")
        return self

    @cached_property
    def texts(self) -> dict[str, str]:
        """Source id to text, as the contract checks provenance against."""
        return {source.source_id: source.text for source in self.sources}

    @property
    def documents(self) -> tuple[Source, ...]:
        """The texts that sources came in: passages that were cut from one text are that text."""
        return self.sources if self.cut_from is None else (self.cut_from,)

    @cached_property
    def contents(self) -> dict[str, str]:
        """Source id to a name of its text, which is the same wherever that text is a source."""
        return {source.source_id: content_key(source.text)[:CONTENT] for source in self.sources}

    @cached_property
    def digest(self) -> str:
        """A name of exactly these sources in this order."""
        return content_key(*(part for source in self.sources for part in (source.source_id, source.text)))

    def __len__(self) -> int:
        return len(self.sources)

    def each(self) -> Iterator[Source]:
        """Go through the sources in order."""
        return iter(self.sources)
