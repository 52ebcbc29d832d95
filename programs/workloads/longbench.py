"""LongBench's JSONL files: one question a line, with its own context.

The context is one source, exactly as the row has it, so that offsets of evidence can be read back in the file.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, Query, Reference

CONTEXT_ID = "context"
"""The source id of a row's context."""

GZIP_MAGIC = b"\x1f\x8b"
HEADER = re.compile(r"^Passage ([0-9]{1,9}):\r?\n", re.MULTILINE)
NonBlank = Annotated[str, StringConstraints(pattern=r"\S")]


class Passage(NamedTuple):
    """A passage's characters [start, end) in the context. It starts with its title line and has no header line."""

    title: str
    start: int
    end: int


class Row(BaseModel):
    """A line of the file. Fields that we don't read (length, language, …) may be there or not."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)
    query_id: NonBlank = Field(alias="_id")
    question: str = Field(alias="input")
    context: NonBlank
    answers: list[str] = Field(min_length=1)
    supporting_titles: list[str] = []
    question_type: str | None = None


def load_longbench(path: Path) -> Iterator[Example]:
    """Give a file's examples in order, plain or gzipped, one at a time since contexts are long.

    A query's position is its line number, which an error message and a record can both point at.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; name a LongBench .jsonl or .jsonl.gz file")
    return _examples(path)


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


def supporting_passages(context: str, titles: Sequence[str]) -> list[list[Passage]]:
    """For each supporting title, in order, the passages that bear it: several where the context repeats a title."""
    found = passages(context)
    return [[passage for passage in found if passage.title == title] for title in titles]


def _passage(context: str, start: int, limit: int) -> Passage:
    text = context[start:limit].rstrip()
    return Passage(title=text.split("\n", 1)[0].rstrip(), start=start, end=start + len(text))


def _examples(path: Path) -> Iterator[Example]:
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        row = _row(line, where)
        if row.query_id in lines:
            raise InputError(f"{where}: _id {row.query_id!r} is already on line {lines[row.query_id]}; ids must differ")
        lines[row.query_id] = number
        yield _example(row, number, where)
    if not lines:
        raise InputError(f"{path}: the file holds no questions")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number the lines from 1 and leave out blank ones."""
    with path.open("rb") as start:
        packed = start.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    number = 0
    try:
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the gzip data is damaged after line {number} ({error}); copy it again") from error


def _row(line: bytes, where: str) -> Row:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not a line of JSON in UTF-8: {error}") from error
    try:
        return Row.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the row"
        raise InputError(f"{where}: {field}: {first['msg']}{_got(first['input'])}") from error


def _got(value: Any) -> str:
    """Show a wrong value, but not a whole row or context."""
    return "" if isinstance(value, dict) else f" (got {str(value)[:80]!r})"


def _example(row: Row, position: int, where: str) -> Example:
    collection = Collection(sources=(Source(source_id=CONTEXT_ID, text=row.context),))
    try:
        query = Query(query_id=row.query_id, question=row.question, collection=collection, position=position)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return Example(
        query=query,
        reference=Reference(
            query_id=row.query_id,
            answers=tuple(row.answers),
            supporting_titles=tuple(row.supporting_titles),
            question_type=row.question_type,
        ),
    )
