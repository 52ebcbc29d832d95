"""The two consoles, and how faults and warnings reach a person."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text

from programs.errors import StateRAGError
from programs.report.console import visible

if TYPE_CHECKING:
    from programs.models.runtime import Runtime
    from programs.settings import Settings


class InertConsole(Console):
    """A console to which a text is a text: the name of a file is no markup, and moves no cursor."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def print(self, *objects: Any, **further: Any) -> None:
        """Print texts without their control characters, and anything else as it is."""
        super().print(*map(_inert, objects), **further)


out = InertConsole()
err = InertConsole(stderr=True)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a fault that the user can mend into one line and exit code 2, and Ctrl-C into exit code 130."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    except StateRAGError as error:
        err.print(Text.assemble(("error: ", "bold red"), visible(str(error))))
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        err.print("stopped")
        raise typer.Exit(130) from None


def open_models(settings: Settings) -> Runtime:
    """Load the models of the settings, fetching weights that are not there yet."""
    from programs.models.runtime import open_runtime

    with err.status("loading models …"):
        return open_runtime(settings)


def say(console: Console, line: str) -> None:
    """Print a line that may hold a folder's or a method's name: as text, and unbroken, so that it can be copied."""
    console.print(Text(line), soft_wrap=True)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in a line, without the place in the code that Python would show."""
    err.print(Text.assemble(("warning: ", "bold yellow"), str(message)))


def _inert(item: Any) -> Any:
    if isinstance(item, str):
        return visible(item)
    if isinstance(item, Text):
        shown = item.copy()
        shown.plain = visible(item.plain)  # as long as it was, so that its styles stand where they stood
        return shown
    return item
