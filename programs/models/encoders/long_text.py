"""The tokens of a text of any length, in bounded memory: it is tokenised piece by piece, its spans are two columns.

A tokenizer keeps a hundred bytes and more for each token of what it is given at once, and Python as much again for a
tuple. A piece ends where a word does and white space follows: there no tokenizer joins anything, and the spans are
those of the whole text. In a text without such a place for a whole piece, one token may be cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from programs.models.encoders.encoder import Encoder
from programs.progress import report

Spans = npt.NDArray[np.int32]
"""A token a row: the characters [start, end)."""
PIECE = 1 << 18
"""Characters that are tokenised at once."""
PLACE = re.compile(r"[\w!-~。！？](?=\s)")
"""The end of a word or of punctuation that is a token, with white space after it."""
NEAR = 4096
"""Characters before the end of a piece in which such a place is looked for first."""
STEP = "cutting"


def long_text_spans(encoder: Encoder, text: str) -> Spans:
    """Give the span of each token, as `encoder.spans` does, and say how far it is in a text of several pieces."""
    parts: list[Spans] = [np.empty((0, 2), np.int32)]
    for start, end in pieces(text, PIECE):
        if len(text) > PIECE:
            report(STEP, start, len(text))
        parts.append(np.asarray(encoder.spans(text[start:end]), np.int32).reshape(-1, 2) + np.int32(start))
    if len(text) > PIECE:
        report(STEP, len(text), len(text))
    return np.concatenate(parts)


def pieces(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Cut a text into pieces of at most `most` characters that end at a place where none of its tokens is cut."""
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= most else _place(text, start, start + most)
        yield start, end
        start = end


def _place(text: str, start: int, full: int) -> int:
    """Find the last good place before a piece is full; there is none in a piece of one endless word."""
    for window in (NEAR, full - start):
        places = [match.end() for match in PLACE.finditer(text, max(start, full - window), full)]
        if places:
            return places[-1]
    return full
