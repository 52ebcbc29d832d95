"""QASPER as a split of JSON lines: a file of questions and a file of papers.

A paper is one source and one collection, which all of its questions share, so that its graph is built once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, Query, Reference
from programs.workloads.rows import Line, NonBlank, QuestionRow, Row, read_rows, said_of


class PaperRow(Row):
    """A line of the papers."""

    paper_id: NonBlank
    text: NonBlank

    def key(self, number: int) -> str:
        """Give the paper's id."""
        return self.paper_id


class PaperQuestionRow(QuestionRow):
    """A line of the questions."""

    paper_id: str


def load_qasper(questions: Path, papers: Path) -> Iterator[Example]:
    """Give the examples in the order of the questions. The papers are read at once, questions one at a time."""
    lines = read_rows(questions, PaperQuestionRow)
    collections = {line.key: paper_collection(line.key, line.row.text) for line in read_rows(papers, PaperRow)}
    return (_example(line, position, collections, papers) for position, line in enumerate(lines))


def paper_collection(paper_id: str, text: str) -> Collection:
    """Make a paper the one source of the questions on it."""
    return Collection(sources=(Source(source_id=paper_id, text=text),))


def _example(
    line: Line[PaperQuestionRow], position: int, collections: Mapping[str, Collection], papers: Path
) -> Example:
    row = line.row
    collection = collections.get(row.paper_id)
    if collection is None:
        raise InputError(f"{line.where}: paper_id {row.paper_id!r} is not in {papers}; add the paper or mend the id")
    with said_of(line.where):
        query = Query(query_id=line.key, question=row.question, collection=collection, position=position)
    reference = Reference(
        query_id=line.key, answers=tuple(row.answers), question_type=row.question_type, cluster=row.paper_id
    )
    return Example(query=query, reference=reference)
