"""A source collection: what one query may be answered from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pydantic import BaseModel, ConfigDict, model_validator

from programs.keys import content_key


class Source(BaseModel):
    """One document. Offsets everywhere else count its characters exactly as they stand here."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str
    text: str


class Collection(BaseModel):
    """Sources in a fixed order, each id once."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))
    sources: tuple[Source, ...]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Collection:
        ids = [source.source_id for source in self.sources]
        if len(set(ids)) != len(ids):
            raise ValueError(f"a source id is repeated: {sorted(i for i in set(ids) if ids.count(i) > 1)}")
        return self

    @cached_property
    def texts(self) -> dict[str, str]:
        """Source id to text, as the contract checks provenance against."""
        return {source.source_id: source.text for source in self.sources}

    @cached_property
    def digest(self) -> str:
        """A name of exactly these sources in this order."""
        return content_key(*(part for source in self.sources for part in (source.source_id, source.text)))

    def __len__(self) -> int:
        return len(self.sources)

    def each(self) -> Iterator[Source]:
        """Go through the sources in order."""
        return iter(self.sources)
