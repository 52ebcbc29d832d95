"""A question as a method sees it, and the reference that only a metric sees.

They are two types because a method is handed a `Query`: what is not in it can't reach a prompt or memory.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from metrics.record import GoldPassage as GoldPassage
from metrics.record import Reference as Reference
from programs.documents.collection import Collection
from programs.errors import InputError
from programs.frozen import Frozen

MAX_QUESTION = 20_000
"""Characters. A longer text is a document given by mistake: it would fill the reader's context by itself."""


def check_question(text: str) -> str:
    """Give the question back as it stands, or say why it can't be asked."""
    if not text.strip():
        what = "blank" if text else "empty"
        raise InputError(f"the question is {what} ({len(text)} characters); ask something of 1 to {MAX_QUESTION:,}")
    if len(text) > MAX_QUESTION:
        raise InputError(
            f"the question has {len(text):,} characters and the limit is {MAX_QUESTION:,}; "
            "give long text as a document and ask about it"
        )
    stray = next((i for i, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
    if stray is not None:
        raise InputError(f"the question is not valid Unicode at character {stray}; give it as UTF-8")
    return text


class Query(Frozen):
    """One question over one collection, at its place in the workload."""

    query_id: str = Field(min_length=1)
    question: str
    collection: Collection
    position: int = Field(ge=0, description="queries run in this order; memory shows what earlier positions wrote")

    @field_validator("question", mode="before")
    @classmethod
    def _can_be_asked(cls, value: Any) -> Any:
        return check_question(value) if isinstance(value, str) else value


class Example(Frozen):
    """A query and its reference, as a loader gives them; a runner parts them before a method runs."""

    query: Query
    reference: Reference

    @model_validator(mode="after")
    def _belong_together(self) -> Example:
        if self.query.query_id != self.reference.query_id:
            raise ValueError(f"reference {self.reference.query_id!r} is not of query {self.query.query_id!r}")
        return self
