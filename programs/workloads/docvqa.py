"""DocVQA: questions on page images, as JSON lines or as the dataset's own JSON file.

A page's text is a `.txt` file beside its image, of the same name otherwise. It is one source and one collection, which
all questions on the page share.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, Field

from programs.documents.collection import Collection, Source
from programs.documents.text import read_text
from programs.errors import InputError
from programs.workloads.query import Example, Query, Reference
from programs.workloads.rows import STRICT, Answers, Line, QuestionRow, read_json, read_rows, said_of


def _names_a_file(page: str) -> str:
    if not PurePath(page).name:
        raise ValueError("not the name of a page's image")
    return page


Page = Annotated[str, AfterValidator(_names_a_file)]
"""An image's path, relative to the file of questions."""


class PageQuestionRow(QuestionRow):
    """A line of a file of JSON lines."""

    page: Page


class PageQuestion(BaseModel):
    """An entry of the dataset's own file. Its test set has no answers and can't be scored here."""

    model_config = STRICT
    question_id: int = Field(alias="questionId")
    question: str
    image: Page
    answers: Answers
    question_types: list[str] = []


class PageQuestions(BaseModel):
    """The dataset's own file."""

    model_config = STRICT
    data: list[PageQuestion] = Field(min_length=1)


class _Asked(NamedTuple):
    """What both forms say of a question, and where."""

    where: str
    query_id: str
    question: str
    page: str
    answers: list[str]
    question_type: str | None


def load_docvqa(path: Path) -> Iterator[Example]:
    """Give the examples of a file of JSON lines. A page's text is read when its first question comes."""
    return _examples(path, map(_asked, read_rows(path, PageQuestionRow)))


def load_docvqa_original(path: Path) -> Iterator[Example]:
    """Give the examples of DocVQA's own JSON file. A question of several types has them joined by commas."""
    return _examples(path, _original(path, read_json(path, PageQuestions).data))


def page_text_file(questions: Path, page: str) -> Path:
    """Say where the text of a page belongs."""
    return (questions.parent / page).with_suffix(".txt")


def _asked(line: Line[PageQuestionRow]) -> _Asked:
    row = line.row
    return _Asked(line.where, line.key, row.question, row.page, row.answers, row.question_type)


def _original(path: Path, entries: Iterable[PageQuestion]) -> Iterator[_Asked]:
    numbers: dict[int, int] = {}
    for number, entry in enumerate(entries):
        where = f"{path}, data.{number}"
        first = numbers.setdefault(entry.question_id, number)
        if first != number:
            raise InputError(f"{where}: questionId {entry.question_id} is already in data.{first}; ids must differ")
        types = ", ".join(entry.question_types) or None
        yield _Asked(where, str(entry.question_id), entry.question, entry.image, entry.answers, types)


def _examples(path: Path, questions: Iterable[_Asked]) -> Iterator[Example]:
    pages: dict[str, Collection] = {}
    for position, asked in enumerate(questions):
        with said_of(asked.where):
            if asked.page not in pages:
                pages[asked.page] = _collection(asked.page, page_text_file(path, asked.page))
            example = _example(asked, pages[asked.page], position)
        yield example


def _collection(page: str, file: Path) -> Collection:
    if not os.path.isfile(file):
        raise InputError(
            f"page {page} has no text: {file} is not there; page images are not read yet, so write the page's text "
            "into that file, as UTF-8"
        )
    text = read_text(file)
    if not text.strip():
        raise InputError(f"page {page} has no text: {file} is blank; write the page's text into it")
    return Collection(sources=(Source(source_id=page, text=text),))


def _example(asked: _Asked, collection: Collection, position: int) -> Example:
    return Example(
        query=Query(query_id=asked.query_id, question=asked.question, collection=collection, position=position),
        reference=Reference(
            query_id=asked.query_id,
            answers=tuple(asked.answers),
            question_type=asked.question_type,
            cluster=asked.page,
        ),
    )
