"""Long steps say how far they are; whoever listens shows it. Nobody has to listen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]
_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


def report(step: str, done: int, total: int) -> None:
    """Say that `done` of `total` parts of a step are done."""
    listener = _listener.get()
    if listener is not None:
        listener(step, done, total)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send reports from inside to this listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
