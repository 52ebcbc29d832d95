"""A corpus: one collection of passages, many questions over it, and the ids of each question's gold passages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import Field

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, Query, Reference
from programs.workloads.rows import Line, NonBlank, QuestionRow, Row, read_rows, said_of


class PassageRow(Row):
    """A line of the passages."""

    passage_id: NonBlank
    title: str
    text: NonBlank

    def key(self, number: int) -> str:
        """Give the passage's id."""
        return self.passage_id


class CorpusQuestionRow(QuestionRow):
    """A line of the questions."""

    gold_passages: list[str] = Field(default_factory=list)


def load_corpus(passages: Path, queries: Path) -> Iterator[Example]:
    """Give the examples in the order of the questions, all over the one collection, which is read at once."""
    lines = read_rows(queries, CorpusQuestionRow)
    collection = Collection(sources=tuple(_source(line.row) for line in read_rows(passages, PassageRow)))
    return (_example(line, position, collection, passages) for position, line in enumerate(lines))


def _source(row: PassageRow) -> Source:
    return Source(source_id=row.passage_id, text=f"{row.title}\n{row.text}")


def _example(line: Line[CorpusQuestionRow], position: int, collection: Collection, passages: Path) -> Example:
    row = line.row
    for gold in row.gold_passages:
        if gold not in collection.texts:
            raise InputError(f"{line.where}: gold passage {gold!r} is not in {passages}; add it or mend the id")
    with said_of(line.where):
        query = Query(query_id=line.key, question=row.question, collection=collection, position=position)
    reference = Reference(
        query_id=line.key,
        answers=tuple(row.answers),
        supporting=tuple(dict.fromkeys(row.gold_passages)),
        question_type=row.question_type,
    )
    return Example(query=query, reference=reference)
