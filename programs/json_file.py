"""Files that are one JSON value of a known shape. What is wrong is said with the path, the field and a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from programs.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
LARGEST = 256 * 2**20
"""Bytes of a file that is read whole."""
SHOWN = 80
"""Characters of a name or value that a message shows: both come from the file, and may be of any length."""


def read_whole(path: Path, remedy: str, largest: int = LARGEST) -> bytes:
    """Read a file, but never more of it than any such file has."""
    try:
        with path.open("rb") as file:
            data = file.read(largest + 1)
    except (OSError, ValueError) as error:  # a name may hold a NUL
        raise InputError(f"{path}: can't be read ({getattr(error, 'strerror', None) or error}); {remedy}") from error
    if len(data) > largest:
        raise InputError(f"{path}: larger than {largest:,} bytes, so it is something else; {remedy}")
    return data


def faults(error: ValidationError) -> str:
    """Say the first thing that is wrong, and in which field."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = shortened(".".join(map(str, first["loc"])))
    what = shortened(first["msg"].removeprefix("Value error, "))
    return f"{where}: {what}" if where else what


def shortened(text: str) -> str:
    """Cut a text from a file to what a message has room for."""
    return text if len(text) <= 2 * SHOWN else f"{text[:SHOWN]} … {text[-SHOWN:]}"
