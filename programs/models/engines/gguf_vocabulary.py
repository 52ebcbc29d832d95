"""The control tokens that a GGUF file's vocabulary declares.

llama.cpp finds them in any text of a chat prompt, and its interfaces don't list them, so they are read from the head of
the file. The format's own Python package makes an array of every token, which takes seconds.
"""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path
from typing import Any

TOKENS, KINDS = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
COUNTS = struct.Struct("<4sIQQ")
"""Magic, version, number of tensors, number of fields."""
TAG = re.compile(r"[^\w\s].*\w.*[^\w\s]", re.DOTALL)
"""Of the tokens that a user defined, those that mark something: the others are runs of space and pieces of words."""


def control_tokens(path: Path) -> tuple[str, ...]:
    """Give the texts that this file's tokenizer takes for tokens of their own. None is a single character, which
    can't be told from the same character in a text.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        fields = Head(raw).fields({TOKENS, KINDS})
    if len(fields) < 2:
        return ()
    kinds = zip(fields[TOKENS], fields[KINDS], strict=True)
    return tuple(token for token, kind in kinds if len(token) > 1 and is_control(token, kind))


def is_control(token: str, kind: int) -> bool:
    """Tell whether a token stands for something other than its text."""
    return kind in (UNKNOWN, CONTROL) or (kind == USER_DEFINED and TAG.fullmatch(token) is not None)


class Head:
    """Reads the fields at the beginning of a GGUF file that llama.cpp has already taken for one."""

    def __init__(self, raw: mmap.mmap) -> None:
        self._raw = raw
        _, _, _, self._count = COUNTS.unpack_from(raw)
        self._at = COUNTS.size

    def fields(self, wanted: set[str]) -> dict[str, Any]:
        """Give the fields of some names, and read no further than the last of them."""
        found: dict[str, Any] = {}
        for _ in range(self._count):
            name = self._value(STRING)
            value = self._value(self._number("I"))
            if name in wanted:
                found[name] = value
            if len(found) == len(wanted):
                break
        return found

    def _value(self, kind: int) -> Any:
        if kind == STRING:
            length = self._number("Q")
            self._at += length
            return self._raw[self._at - length : self._at].decode("utf-8", "replace")
        if kind == ARRAY:
            inner, length = self._number("I"), self._number("Q")
            if inner in FORMATS:
                return self._numbers(f"{length}{FORMATS[inner]}")
            return [self._value(inner) for _ in range(length)]
        return self._number(FORMATS[kind])

    def _number(self, form: str) -> Any:
        return self._numbers(form)[0]

    def _numbers(self, form: str) -> tuple[Any, ...]:
        packed = struct.Struct(f"<{form}")
        values = packed.unpack_from(self._raw, self._at)
        self._at += packed.size
        return values
