"""LongBench's JSONL files: one question a line, with its own context.

Each passage of the context is a source of its own, from its title on: what recurs in another row is then the same text
there, and can be recognised. Its id has the passage's number, and `Source.start` says where it begins in the context,
so that offsets of evidence can be read back in the file. A context without passages is one source, as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from programs.documents.collection import Collection, Source
from programs.workloads.query import Example, GoldPassage, Query, Reference
from programs.workloads.rows import Line, NonBlank, QuestionRow, read_rows, said_of

UNREAD = frozenset({"length", "dataset", "language", "all_classes"})
"""What LongBench's own rows say beside what is read."""

CONTEXT_ID = "context"
"""The id of a row's context."""
OPENING_ID = "opening"
"""The source id of what stands before the first passage."""

HEADER = re.compile(r"^Passage ([0-9]{1,9}):\r?\n", re.MULTILINE)


class Passage(NamedTuple):
    """A passage's characters [start, end) in the context. It starts with its title line and has no header line."""

    title: str
    start: int
    end: int


class LongBenchRow(QuestionRow):
    """A line of the file. LongBench's own rows have no supporting titles."""

    context: NonBlank
    supporting_titles: list[str] = Field(default_factory=list)


def load_longbench(path: Path) -> Iterator[Example]:
    """Give a file's examples in order, plain or gzipped, one at a time since contexts are long."""
    lines = read_rows(path, LongBenchRow)
    return (_example(line, position) for position, line in enumerate(lines))


def passages(context: str) -> list[Passage]:
    """Find the passages of a context by their header lines, "Passage 1:", "Passage 2:", and so on.

    Only the next number in turn opens a passage: a text may quote such a line itself.
    """
    headers: list[re.Match[str]] = []
    for match in HEADER.finditer(context):
        if int(match[1]) == len(headers) + 1:
            headers.append(match)
    limits = [*(header.start() for header in headers), len(context)][1:]
    return [_passage(context, header.end(), limit) for header, limit in zip(headers, limits, strict=True)]


def gold_passages(context: str, titles: Sequence[str]) -> tuple[tuple[GoldPassage, ...], ...]:
    """For each supporting title, in order, the passages that bear it: several where the context repeats a title."""
    found = [
        GoldPassage(source_id=passage_id(number), title=passage.title, start=0, end=passage.end - passage.start)
        for number, passage in enumerate(passages(context) if titles else [], start=1)
    ]
    return tuple(tuple(passage for passage in found if passage.title == title) for title in titles)


def passage_id(number: int) -> str:
    """Name a passage by the number in its header line."""
    return f"passage-{number}"


def context_collection(context: str) -> Collection:
    """Make the passages of a context the sources of its question, or the context itself where it has none."""
    whole = Source(source_id=CONTEXT_ID, text=context)
    parts = [
        Source(source_id=passage_id(number), text=context[passage.start : passage.end], start=passage.start)
        for number, passage in enumerate(passages(context), start=1)
    ]
    opening = Source(source_id=OPENING_ID, text=_before(context, parts[0].start) if parts else "")
    kept = tuple(part for part in (opening, *parts) if part.text.strip())
    return Collection(sources=kept, cut_from=whole) if kept else Collection(sources=(whole,))


def _before(context: str, first: int) -> str:
    """Give what stands before the header line of the first passage."""
    return context[: next(header.start() for header in HEADER.finditer(context) if header.end() == first)]


def _passage(context: str, start: int, limit: int) -> Passage:
    text = context[start:limit].rstrip()
    return Passage(title=text.split("\n", 1)[0].rstrip(), start=start, end=start + len(text))


def _example(line: Line[LongBenchRow], position: int) -> Example:
    row = line.row
    collection = context_collection(row.context)
    with said_of(line.where):
        query = Query(query_id=line.key, question=row.question, collection=collection, position=position)
    reference = Reference(
        query_id=line.key,
        answers=tuple(row.answers),
        passages=gold_passages(row.context, row.supporting_titles),
        question_type=row.question_type,
    )
    return Example(query=query, reference=reference)
