"""Tokens as character spans, such that a count of tokens bounds a count of characters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer

from programs.models.encoders.encoder import Span

LONGEST = 16
"""Characters that one token may stand for. A tokenizer makes one [UNK] of a word of any length, and drops control
characters and stray accents altogether; a region measured in such tokens could be of any size."""


def token_spans(tokenizer: Tokenizer, text: str) -> list[Span]:
    """Give the spans of a text's tokens: increasing, apart, inside the text, none longer than `LONGEST`."""
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    return list(_bounded(offsets, text))


def _bounded(offsets: Iterable[Span], text: str) -> Iterator[Span]:
    """Mend a tokenizer's offsets: several tokens of one character become one, and long stretches are cut."""
    reached = 0
    for start, end in offsets:
        start = max(start, reached)
        if end <= start:
            continue
        if start - reached > LONGEST:
            yield from _unread(text, reached, start)
        yield from _pieces(start, end) if end - start > LONGEST else ((start, end),)
        reached = end
    if len(text) - reached > LONGEST:
        yield from _unread(text, reached, len(text))


def _unread(text: str, start: int, end: int) -> Iterator[Span]:
    """Count a long stretch that the tokenizer dropped, unless it is only white space at its ends."""
    gap = text[start:end]
    inner = len(gap) - len(gap.lstrip())
    yield from _pieces(start + inner, start + len(gap.rstrip()))


def _pieces(start: int, end: int) -> Iterator[Span]:
    for at in range(start, end, LONGEST):
        yield at, min(at + LONGEST, end)
