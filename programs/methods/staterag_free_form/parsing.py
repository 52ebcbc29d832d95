"""All that is read out of a role's words: the arguments of its tool, evidence identifiers, and PASS or FAIL.

None of it mends anything. What is not there as it must be is not there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from programs.state import EvidenceRecord, VerdictLabel

TRACE = re.compile(r"\[(\d+)\]|\btrace(?:[ _]id)?\W{0,4}(\d+)|^[^\w\n]*(\d+)[.):](?=\s)", re.IGNORECASE | re.MULTILINE)
"""A candidate trace as it was shown, [3], or by name, or at the head of a line of a list."""
SCORE = re.compile(r"(?<![\w.])(?:0?\.\d+|1\.0+|[01])(?!\w|\.\d)")
"""A number between 0 and 1."""
NUMBERS = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")
TOKEN = re.compile(r"\b(PASS|FAIL)\b")


def scores_in(words: str) -> dict[int, float]:
    """Read which traces are named, and the first score after each name; a trace without one is not an argument."""
    named = list(TRACE.finditer(words))
    scores: dict[int, float] = {}
    for i, name in enumerate(named):
        end = named[i + 1].start() if i + 1 < len(named) else len(words)
        score = SCORE.search(words, name.end(), end)
        if score is not None:
            scores[int(name[1] or name[2] or name[3])] = float(score[0])
    return scores


def named_in(words: str, candidates: Sequence[EvidenceRecord]) -> tuple[EvidenceRecord, ...]:
    """Give the candidates that the words name by number or by id, each once, in the order in which they are named."""
    places = {number: at for at, number in reversed(_numbers(words))}
    found: dict[int, int] = {}
    for i, candidate in enumerate(candidates):
        by_id = re.search(rf"(?<!\w){re.escape(candidate.evidence_id)}(?!\d)", words)
        named = [*([by_id.start()] if by_id else []), *([places[i + 1]] if i + 1 in places else [])]
        if named:
            found[i] = min(named)
    return tuple(candidates[i] for i in sorted(found, key=lambda i: (found[i], i)))


def _numbers(words: str) -> list[tuple[int, int]]:
    """List the bracketed numbers with where each stands; one bracket may hold several."""
    return [
        (group.start(1) + number.start(), int(number[0]))
        for group in NUMBERS.finditer(words)
        for number in re.finditer(r"\d+", group[1])
    ]


def verdict_in(words: str) -> VerdictLabel | None:
    """Give the last PASS or FAIL of the words."""
    tokens = TOKEN.findall(words)
    return VerdictLabel(tokens[-1]) if tokens else None
