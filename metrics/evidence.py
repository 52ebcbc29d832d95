"""Evidence recall: how much of what an answer needs was admitted as evidence.

A passage of a long source counts as found by one of two rules: its title line was admitted (`title_recall`), or at
least half of its characters were (`passage_coverage`). Several records may cover a passage together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

Span = tuple[int, int]
"""Characters [start, end) of a source."""


class TitledPassage(Protocol):
    """A passage's characters in its source, which begin with its title."""

    @property
    def title(self) -> str:
        """The title as it stands in the source."""

    @property
    def start(self) -> int:
        """Where the title begins."""

    @property
    def end(self) -> int:
        """Where the passage's text ends."""


def title_recall(evidence: Sequence[Span], supporting: Sequence[Sequence[TitledPassage]]) -> float:
    """Give the share of supporting titles with a passage whose whole title line the evidence covers.

    Each supporting title comes with all the passages that bear it, because a context may repeat a title and the
    reference does not say which one is meant; any of them will do.
    """
    return _recall(supporting, lambda passage: _has_title(evidence, passage))


def passage_coverage(evidence: Sequence[Span], supporting: Sequence[Sequence[TitledPassage]]) -> float:
    """Give the share of supporting titles with a passage of which the evidence covers at least half."""
    return _recall(supporting, lambda passage: _has_half(evidence, passage))


def source_recall(admitted: Collection[str], supporting: Collection[str]) -> float:
    """Give the share of supporting sources of which some evidence was admitted."""
    wanted = set(supporting)
    if not wanted:
        raise ValueError("recall is not defined without supporting sources")
    return len(wanted.intersection(admitted)) / len(wanted)


def covered(span: Span, evidence: Sequence[Span]) -> int:
    """Count the characters of a span that the evidence covers, each once however often it was admitted."""
    start, end = span
    count, reached = 0, start
    for first, last in sorted(evidence):
        first, last = max(first, reached), min(last, end)
        if last > first:
            count, reached = count + last - first, last
    return count


def _recall(supporting: Sequence[Sequence[TitledPassage]], found: Callable[[TitledPassage], bool]) -> float:
    if not supporting:
        raise ValueError("recall is not defined without supporting passages")
    return sum(any(found(passage) for passage in group) for group in supporting) / len(supporting)


def _has_title(evidence: Sequence[Span], passage: TitledPassage) -> bool:
    length = len(passage.title)
    return 0 < length == covered((passage.start, passage.start + length), evidence)


def _has_half(evidence: Sequence[Span], passage: TitledPassage) -> bool:
    length = passage.end - passage.start
    return length > 0 and 2 * covered((passage.start, passage.end), evidence) >= length
