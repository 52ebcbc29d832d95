"""How many examples a fuzz test draws: its own number in the ordinary suite, what STATERAG_EXAMPLES says in a campaign."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

VARIABLE = "STATERAG_EXAMPLES"


def examples(default: int) -> int:
    """The number that the environment names, or a test's own. Less than a test's own is never drawn."""
    named = os.environ.get(VARIABLE, "")
    return max(default, int(named)) if named.isdecimal() else default


def fuzzed(default: int, **further: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Settings and mark of a fuzz test, put above its `@given`. A campaign finds it by the mark."""
    patient = settings(
        max_examples=examples(default), deadline=None, suppress_health_check=list(HealthCheck), **further
    )

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        marked: Callable[..., Any] = pytest.mark.fuzz(patient(test))
        return marked

    return decorate
