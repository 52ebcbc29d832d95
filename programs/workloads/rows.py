"""Files of JSON lines, or of one JSON value, plain or gzipped, checked row by row.

Every loader reads through here, so a fault is always said the same way: the file, the line, the field, what it holds.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, NoReturn, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from rapidfuzz import fuzz, process

from programs.errors import InputError
from programs.json_file import LARGEST, faults, shortened

GZIP_MAGIC = b"\x1f\x8b"
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
STRICT = ConfigDict(frozen=True, extra="ignore", strict=True)
"""Fields that we don't read may be there or not; those that we do have the type that they should."""

LONGEST = 32 * 2**20
"""Bytes of a line. Longer text belongs into documents, which are not held as JSON."""
MOST_PACKED = 2 * 2**30
"""Bytes that a gzip file may unpack to: a few kilobytes can be made to unpack to any number."""
MOST_ANSWERS = 1_000
LONGEST_ANSWER = 20_000
LONGEST_ID = 1_000
ALIKE = 75
"""How alike two names of fields are, of 100, for one to be taken for the other mistyped."""

NonBlank = Annotated[str, StringConstraints(pattern=r"\S")]


def _one_says_something(answers: Sequence[str]) -> Sequence[str]:
    if not any(answer.strip() for answer in answers):
        raise ValueError("there is no answer, or only blank ones; give at least one")
    return answers


Answer = Annotated[str, StringConstraints(max_length=LONGEST_ANSWER)]
AnyAnswers = Annotated[list[Answer], Field(max_length=MOST_ANSWERS)]
Answers = Annotated[AnyAnswers, AfterValidator(_one_says_something)]
"""Reference answers of which at least one is not blank: a query that nothing can answer would only lower the mean."""


class Row(BaseModel, ABC):
    """A line of a file."""

    model_config = STRICT
    others: ClassVar[frozenset[str] | None] = None
    """Fields that a row may have and that are not read; None allows all but those that are one of ours mistyped."""

    @model_validator(mode="before")
    @classmethod
    def _no_field_is_mistyped(cls, row: Any) -> Any:
        if isinstance(row, dict):
            _check_fields(row, _fields(cls), cls.others)
        return row

    @abstractmethod
    def key(self, number: int) -> str:
        """Give the id that no other line may have. The line's number is for rows that came without one."""


class QuestionRow(Row):
    """A question with an id and answers, under the names that LongBench gave them."""

    query_id: NonBlank = Field(alias="_id")
    question: str = Field(alias="input")
    answers: Answers
    question_type: str | None = None

    def key(self, number: int) -> str:
        """Give the question's id."""
        return self.query_id


def _fields(model: type[BaseModel]) -> frozenset[str]:
    """Give the names that a row may have for what is read."""
    names = set()
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        names |= {str(choice) for choice in alias.choices} if isinstance(alias, AliasChoices) else {str(alias or name)}
    return frozenset(names)


def _check_fields(row: dict[str, Any], known: frozenset[str], others: frozenset[str] | None) -> None:
    """Refuse a field that is not known, or where any may be there, one that is like one of ours that is missing."""
    strange = [name for name in row if name not in known and name not in (others or ())]
    for name in strange:
        meant = process.extractOne(name[:LONGEST_ID], known - row.keys(), scorer=fuzz.ratio, score_cutoff=ALIKE)
        if meant is not None:
            raise ValueError(f"there is no field {shortened(name)!r}; did you mean {meant[0]!r}?")
        if others is not None:
            raise ValueError(f"there is no field {shortened(name)!r}; there are {', '.join(sorted(known))}")


RowT = TypeVar("RowT", bound=Row)
ModelT = TypeVar("ModelT", bound=BaseModel)


class Line(NamedTuple, Generic[RowT]):
    """A row, its id, and where it stands, as a message names it."""

    row: RowT
    key: str
    where: str


@contextmanager
def said_of(where: str) -> Iterator[None]:
    """Put the place in a file before a fault that was found further in."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def read_rows(path: Path, model: type[RowT]) -> Iterator[Line[RowT]]:
    """Give a file's rows in order, one at a time since they may be long. A missing file is said at once.

    Blank lines are left out, but they count as lines. An id that was on an earlier line is an error, and so is a file
    without rows.
    """
    _must_be_a_file(path)
    return _rows(path, model)


def read_json(path: Path, model: type[ModelT]) -> ModelT:
    """Read a file that is one JSON value."""
    _must_be_a_file(path)
    data = b"".join(line for _, line in _lines(path, LARGEST, LARGEST))
    return _checked(data, model, str(path))


def _must_be_a_file(path: Path) -> None:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file; name a file of JSON or JSON lines, plain or gzipped")


def _rows(path: Path, model: type[RowT]) -> Iterator[Line[RowT]]:
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        row = _checked(line, model, where)
        key = row.key(number)
        if len(key) > LONGEST_ID:
            raise InputError(f"{where}: the id has {len(key):,} characters; give it at most {LONGEST_ID:,}")
        if key in lines:
            raise InputError(f"{where}: id {key!r} is already on line {lines[key]}; ids must differ")
        lines[key] = number
        yield Line(row, key, where)
    if not lines:
        raise InputError(f"{path}: the file holds no rows; give it one JSON object a line")


def _lines(path: Path, longest: int = LONGEST, most: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Number the lines from 1. A line ends at a line feed alone: other separators may stand inside a JSON string.

    No more is read, or unpacked, than a file of questions may hold.
    """
    number = total = 0
    try:
        with _opened(path) as file:
            if most is None and isinstance(file, gzip.GzipFile):
                most = MOST_PACKED
            while line := file.readline(longest + 1):
                number, total = number + 1, total + len(line)
                if len(line) > longest:
                    raise InputError(
                        f"{path}, line {number}: longer than {longest:,} bytes; give long texts as documents"
                    )
                if most is not None and total > most:
                    raise InputError(
                        f"{path}: holds more than {most:,} bytes, which no file of questions does; if this one does, "
                        "unpack it, and give it in parts"
                    )
                yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the gzip data is damaged after line {number} ({error}); copy it again") from error
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error


def _opened(path: Path) -> BufferedIOBase:
    """Open a file by what it is and not by its suffix, which a download may have changed."""
    with path.open("rb") as start:
        packed = start.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return gzip.open(path, "rb") if packed else path.open("rb")


def _checked(data: bytes, model: type[ModelT], where: str) -> ModelT:
    try:
        value = _decoded(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON in UTF-8: {shortened(str(error))}") from error
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "" if first["loc"] else "the value: "
        raise InputError(f"{where}: {place}{faults(error)}{_got(first['input'])}") from error


def _decoded(data: bytes) -> Any:
    """Parse JSON. An escape can spell half a character; no record could be written with it, so it is refused here."""
    value = json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    if SURROGATE.search(data):
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; write null")


def _got(value: Any) -> str:
    """Show a wrong value, but not a whole row or context, nor what may be nested without end."""
    return "" if isinstance(value, dict | list) else f" (got {str(value)[:80]!r})"
