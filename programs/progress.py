"""Long steps say how far they are; whoever listens shows it. Nobody has to listen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Part = TypeVar("Part")
Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(step: str, done: int, total: int) -> None:
    """Say that `done` of `total` parts of a step are done."""
    listener = _listener.get()
    if listener is not None:
        listener(step, done, total)


def counted(step: str, parts: Sequence[Part]) -> Iterator[Part]:
    """Give the parts of a step in turn, and say how many are done, from none on: its time runs from the first."""
    report(step, 0, len(parts))
    for done, part in enumerate(parts, start=1):
        yield part
        report(step, done, len(parts))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send reports from inside to this listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
