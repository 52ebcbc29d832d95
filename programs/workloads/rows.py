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
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from programs.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
STRICT = ConfigDict(frozen=True, extra="ignore", strict=True)
"""Fields that we don't read may be there or not; those that we do have the type that they should."""

NonBlank = Annotated[str, StringConstraints(pattern=r"\S")]


def _one_says_something(answers: Sequence[str]) -> Sequence[str]:
    if not any(answer.strip() for answer in answers):
        raise ValueError("there is no answer, or only blank ones; give at least one")
    return answers


Answers = Annotated[list[str], AfterValidator(_one_says_something)]
"""Reference answers of which at least one is not blank: a query that nothing can answer would only lower the mean."""


class Row(BaseModel, ABC):
    """A line of a file."""

    model_config = STRICT

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
    return _checked(b"".join(line for _, line in _lines(path)), model, str(path))


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
        if key in lines:
            raise InputError(f"{where}: id {key!r} is already on line {lines[key]}; ids must differ")
        lines[key] = number
        yield Line(row, key, where)
    if not lines:
        raise InputError(f"{path}: the file holds no rows; give it one JSON object a line")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number the lines from 1. A line ends at a line feed alone: other separators may stand inside a JSON string."""
    number = 0
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, start=1):
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
        raise InputError(f"{where}: not JSON in UTF-8: {error}") from error
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the value"
        raise InputError(f"{where}: {field}: {first['msg']}{_got(first['input'])}") from error


def _decoded(data: bytes) -> Any:
    """Parse JSON. An escape can spell half a character; no record could be written with it, so it is refused here."""
    value = json.loads(data.decode("utf-8-sig"))
    if SURROGATE.search(data):
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


def _got(value: Any) -> str:
    """Show a wrong value, but not a whole row or context."""
    return "" if isinstance(value, dict) else f" (got {str(value)[:80]!r})"
