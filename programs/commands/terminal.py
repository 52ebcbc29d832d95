"""The two consoles, and how faults and warnings reach a person."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from programs.errors import StateRAGError

if TYPE_CHECKING:
    from programs.models.runtime import Runtime
    from programs.settings import Settings

out = Console()
err = Console(stderr=True)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a fault that the user can mend into one line and exit code 2, and Ctrl-C into exit code 130."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    except StateRAGError as error:
        err.print(Text.assemble(("error: ", "bold red"), inert(error)))
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        err.print("stopped")
        raise typer.Exit(130) from None


def open_models(settings: Settings) -> Runtime:
    """Load the models of the settings, fetching weights that are not there yet."""
    from programs.models.runtime import open_runtime

    with err.status("loading models …"):
        return open_runtime(settings)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in a line, without the place in the code that Python would show."""
    err.print(Text.assemble(("warning: ", "bold yellow"), inert(message)))


def inert(said: object) -> str:
    """Give a message as text and nothing else: it may quote a document, a file's name or a server."""
    from programs.report.console import visible

    return visible(str(said))
