"""Where the sentences of a text end, in any script that has full stops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

END = re.compile(r"[.!?؟۔।]+[\"'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*|\n")
"""A full stop of some script, with the quotes and brackets that it closes; or the end of a line."""


def each_sentence_end(text: str) -> Iterator[int]:
    """Go through the offsets at which sentences end; the last one of a text may have none."""
    return (match.end() for match in END.finditer(text))


def sentence_ends(text: str) -> list[int]:
    """List them."""
    return list(each_sentence_end(text))


def sentences_of(text: str) -> list[str]:
    """Split a text into its sentences."""
    parts = (text[start:end].strip() for start, end in pairwise([0, *sentence_ends(text), len(text)]))
    return [part for part in parts if part]
