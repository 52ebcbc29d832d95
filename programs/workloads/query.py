"""A question as a method sees it, and the reference that only a metric sees.

They are two types because a method is handed a `Query`: what is not in it can't reach a prompt or memory (I7).
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from programs.documents.collection import Collection
from programs.errors import InputError

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


class Query(BaseModel):
    """One question over one collection, at its place in the workload."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    query_id: str = Field(min_length=1)
    question: str
    collection: Collection
    position: int = Field(ge=0, description="queries run in this order; memory shows what earlier positions wrote")

    @field_validator("question", mode="before")
    @classmethod
    def _can_be_asked(cls, value: Any) -> Any:
        return check_question(value) if isinstance(value, str) else value


class GoldPassage(BaseModel):
    """A passage that an answer needs: characters [start, end) of a source. They begin with its title."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str
    title: str
    start: int = Field(ge=0)
    end: int


class Reference(BaseModel):
    """What a query is scored against. No method receives one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    query_id: str = Field(min_length=1)
    answers: tuple[str, ...] = Field(description="any of them is right; without any, the query is run and not scored")
    supporting: tuple[str, ...] = Field((), description="ids of the sources that the answer needs, where known")
    passages: tuple[tuple[GoldPassage, ...], ...] = Field(
        (),
        description="the passages that the answer needs, where one source holds many; a title that the source repeats "
        "gives several of which any will do, and one that it lacks gives none",
    )
    question_type: str | None = None
    cluster: str | None = Field(None, description="what questions on one source have in common; None stands alone")


class Example(BaseModel):
    """A query and its reference, as a loader gives them; a runner parts them before a method runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    query: Query
    reference: Reference

    @model_validator(mode="after")
    def _belong_together(self) -> Example:
        if self.query.query_id != self.reference.query_id:
            raise ValueError(f"reference {self.reference.query_id!r} is not of query {self.query.query_id!r}")
        return self
