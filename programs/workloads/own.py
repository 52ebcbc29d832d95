"""Anyone's questions: JSON lines, each over a text in the row or over documents that the row names.

LongBench's rows are of this form too, under its names for the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import ClassVar

from pydantic import AliasChoices, Field, model_validator

from programs.documents.collection import Collection
from programs.documents.text import load_documents, text_files
from programs.workloads.longbench import UNREAD, context_collection, gold_passages
from programs.workloads.query import Example, Query, Reference
from programs.workloads.rows import AnyAnswers, Line, NonBlank, Row, read_rows, said_of


class OwnRow(Row):
    """A question and what it is asked of: a text, or files and folders by their paths from this file's folder."""

    others: ClassVar[frozenset[str]] = UNREAD
    query_id: NonBlank | int | None = Field(None, validation_alias=AliasChoices("id", "_id"))
    question: str = Field(validation_alias=AliasChoices("question", "input"))
    answers: AnyAnswers = Field([], description="none, or only blank ones: the question is run and not scored")
    context: NonBlank | None = None
    documents: list[NonBlank] = Field(default_factory=list)
    supporting_titles: list[str] = Field(default_factory=list)
    question_type: str | None = None

    @model_validator(mode="after")
    def _asks_of_one_thing(self) -> OwnRow:
        if (self.context is None) == (not self.documents):
            raise ValueError('give "context", a text, or "documents", a list of paths, and not both')
        return self

    def key(self, number: int) -> str:
        """Give the question's id; one without is called by its line."""
        return f"line-{number}" if self.query_id is None else str(self.query_id)


def load_own(path: Path) -> Iterator[Example]:
    """Give the examples in order. Rows that name the same documents, or repeat a text, share one collection."""
    return _examples(path, read_rows(path, OwnRow))


def document_files(path: Path, limit: int | None = None) -> tuple[Path, ...]:
    """Name the documents that the first rows are asked of, each once."""
    named = (folder for line in islice(read_rows(path, OwnRow), limit) for folder in _paths(path, line.row))
    return tuple(dict.fromkeys(file for item in dict.fromkeys(named) for file in text_files(item)))


def _examples(path: Path, lines: Iterator[Line[OwnRow]]) -> Iterator[Example]:
    shared: dict[str | tuple[Path, ...], Collection] = {}
    for position, line in enumerate(lines):
        asked_of = line.row.context or _paths(path, line.row)
        with said_of(line.where):
            if asked_of not in shared:
                shared[asked_of] = _collection(asked_of)
            example = _example(line, shared[asked_of], position)
        yield example


def _paths(path: Path, row: OwnRow) -> tuple[Path, ...]:
    return tuple(path.parent / name for name in row.documents)


def _collection(asked_of: str | tuple[Path, ...]) -> Collection:
    return context_collection(asked_of) if isinstance(asked_of, str) else load_documents(asked_of)


def _example(line: Line[OwnRow], collection: Collection, position: int) -> Example:
    row = line.row
    return Example(
        query=Query(query_id=line.key, question=row.question, collection=collection, position=position),
        reference=Reference(
            query_id=line.key,
            answers=tuple(answer for answer in row.answers if answer.strip()),
            passages=gold_passages(row.context or "", row.supporting_titles),
            question_type=row.question_type,
        ),
    )
