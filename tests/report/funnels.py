"""Funnels made up for the tests."""

from __future__ import annotations

from metrics.funnel import Fate, Funnel
from metrics.sufficiency import JudgedVerdict

LOST_EVERYWHERE = {
    "bridge": ("admitted", "admitted", "carried", "kept", "candidates", "reached", "completed", "gold"),
    "comparison": ("admitted", "admitted"),
}
VERDICTS = (JudgedVerdict(1, "PASS", True), JudgedVerdict(1, "PASS", False), JudgedVerdict(2, "FAIL", False))


def a_fate(*furthest: str, verdicts: tuple[JudgedVerdict, ...] = (), scores: dict[str, float] | None = None) -> Fate:
    ended = "planner" if "gold" in furthest else None
    return Fate(furthest, 1, 1, ended, verdicts, scores or {}, frozenset(furthest))


def a_funnel(method: str = "staterag", kinds: dict[str | None, tuple[str, ...]] | None = None) -> Funnel:
    """Make a funnel from the last stage of each passage, by question type; every type is one query."""
    funnel = Funnel(method, "longbench/hotpotqa")
    for kind, furthest in (LOST_EVERYWHERE if kinds is None else kinds).items():
        found = a_fate(*furthest, verdicts=VERDICTS, scores={"accuracy": 1.0, "f1": 0.5})
        funnel.count(found, kind)
    return funnel
