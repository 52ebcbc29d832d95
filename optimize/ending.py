"""How a search ends before its optimiser does. None of these is an `Exception`: optimisers take those for a question
that went wrong, score it 0 and go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SearchEnds(BaseException):
    """The search is over."""


class BudgetSpent(SearchEnds):
    """No run is left."""


class RunBroke(SearchEnds):
    """A run raised what no question should: its cause."""


@contextmanager
def raising_causes() -> Iterator[None]:
    """End quietly where the budget was spent, and otherwise raise what broke a run as it was."""
    try:
        yield
    except SearchEnds as end:
        if end.__cause__ is not None:
            raise end.__cause__ from None
