"""Keeps what optimisers print, log and draw off the terminal. What goes through our own consoles still gets there."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TextIO


class Silent(io.TextIOBase):
    """A stream that drops what is written to it. Rich's consoles look behind it and write to the real one."""

    def __init__(self, real: TextIO) -> None:
        self.rich_proxied_file = getattr(real, "rich_proxied_file", real)

    def write(self, text: str) -> int:
        """Take a text and forget it."""
        return len(text)

    def writable(self) -> bool:
        """Be written to."""
        return True


@contextmanager
def quiet() -> Iterator[None]:
    """Silence prints and bars on both streams, and the warnings of an optimiser about its own options."""
    with redirect_stdout(Silent(sys.stdout)), redirect_stderr(Silent(sys.stderr)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"optuna|dspy|gepa")
        yield
