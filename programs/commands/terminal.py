"""The two consoles, and how faults, warnings and progress reach a person."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.text import Text

from programs.errors import StateRAGError

out = Console()
err = Console(stderr=True)
QUIET_SECONDS = 30.0
"""How often a run without a terminal says where it is, so that a log file shows it too."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a fault that the user can mend into one line and exit code 2, and Ctrl-C into exit code 130."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    except StateRAGError as error:
        err.print(Text.assemble(("error: ", "bold red"), str(error)))
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        err.print("stopped")
        raise typer.Exit(130) from None


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in a line, without the place in the code that Python would show."""
    err.print(Text.assemble(("warning: ", "bold yellow"), str(message)))


class LogLines:
    """Says now and then how far a step is, where there is no terminal for a bar."""

    def __init__(self) -> None:
        self._started: dict[str, float] = {}
        self._said = time.monotonic()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Take a report of progress."""
        now = time.monotonic()
        started = self._started.setdefault(step, now)
        finished = done >= total
        if err.is_terminal or not done or (now - self._said < QUIET_SECONDS and not finished):
            return
        self._said = now
        each = (now - started) / done
        left = f", {duration(each * (total - done))} left" if not finished else ""
        err.print(Text(f"{step}: {done} of {total}, {each:.1f} s each{left}"))


def duration(seconds: float) -> str:
    """Write a length of time for a person."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
