"""The two consoles, and how faults and warnings reach a person."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from programs.atomic import is_full
from programs.errors import StateRAGError
from programs.report.visible import one_line, visible

if TYPE_CHECKING:
    from programs.models.runtime import Runtime
    from programs.settings import Settings


class InertConsole(Console):
    """A console to which a text is a text: the name of a file is no markup, and moves no cursor.

    It leaves it to `plain_errors` what a pipe means that nobody reads any more.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def print(self, *objects: Any, **further: Any) -> None:
        """Print texts without their control characters, and anything else as it is."""
        super().print(*map(_inert, objects), **further)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


BAD_INPUT, STOPPED, NOBODY_READS = 2, 130, 141
"""Exit codes. The last two are what a shell says of a program that SIGINT or SIGPIPE ended."""
MOST_WARNINGS = 20
"""Warnings of one kind that are shown; the rest are counted."""
out = InertConsole()
err = InertConsole(stderr=True)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a fault that the user can mend into one line and exit code 2, and Ctrl-C into exit code 130.

    A pipe that nobody reads any more, as under `| head`, ends the program quietly with exit code 141.
    """
    try:
        with shown_warnings():
            try:
                yield
            finally:
                sys.stdout.flush()  # here, where a full disk can still be said
    except StateRAGError as error:
        _fail(str(error))
        raise typer.Exit(BAD_INPUT) from error
    except KeyboardInterrupt:
        _say("stopped")
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        _abandon(sys.stdout, sys.stderr)
        raise typer.Exit(NOBODY_READS) from None
    except OSError as error:
        if not is_full(error):
            raise
        _abandon(sys.stdout)
        _fail(f"{error.filename or 'standard output'} can't be written: {error.strerror}; make room and run it again")
        raise typer.Exit(BAD_INPUT) from None


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Say each warning in a line, without the place in the code that Python would show, and only so many of a kind."""
    said: Counter[type[Warning]] = Counter()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        said[category] += 1
        if said[category] <= MOST_WARNINGS:
            _say(Text.assemble(("warning: ", "bold yellow"), one_line(str(message))))

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            for category, count in said.items():
                if count > MOST_WARNINGS:
                    more = f"and {count - MOST_WARNINGS} more like these ({category.__name__})"
                    _say(Text.assemble(("warning: ", "bold yellow"), more))


def open_models(settings: Settings) -> Runtime:
    """Load the models of the settings, fetching weights that are not there yet."""
    from programs.models.runtime import open_runtime

    with err.status("loading models …"):
        return open_runtime(settings)


def say(console: Console, line: str) -> None:
    """Print a line that may hold a folder's or a method's name: as text, and unbroken, so that it can be copied."""
    console.print(Text(line), soft_wrap=True)


def _inert(item: Any) -> Any:
    if isinstance(item, str):
        return visible(item)
    if isinstance(item, Text):
        shown = item.copy()
        shown.plain = visible(item.plain)
        return shown
    return item


def _fail(said: str) -> None:
    _say(Text.assemble(("error: ", "bold red"), visible(said)))


def _say(line: Text | str) -> None:
    """Say something to the person; where stderr takes nothing, there is nobody to say that to."""
    try:
        err.print(line, soft_wrap=True)
    except OSError:
        _abandon(sys.stderr)


def _abandon(*streams: IO[str]) -> None:
    """Let what a stream still holds go nowhere, or Python would complain of it at exit."""
    for stream in streams:
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
