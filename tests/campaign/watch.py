"""What a process does to the world outside, noticed by the interpreter's own audit events."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from programs.models.network import is_loopback

STARTS = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "webbrowser.open",
    "pty.spawn",
}
CHANGES = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.symlink", "os.link", "shutil.rmtree"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_watching: list[Watch] = []


class Watch:
    """Notes every connection beyond this machine, every program started, and every file touched outside of a folder."""

    def __init__(self, allowed: Path) -> None:
        self.seen: list[str] = []
        self._allowed = tuple(f"{place}{os.sep}" for place in {str(allowed), str(allowed.resolve())})

    def event(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "socket.connect" and not self._is_near(arguments[1]):
            self.seen.append(f"connected to {arguments[1]}")
        elif name == "socket.getaddrinfo" and arguments[0] and not is_loopback(str(arguments[0])):
            self.seen.append(f"looked up {arguments[0]}")
        elif name in STARTS:
            self.seen.append(f"{name} {arguments[:2]}")
        elif name in CHANGES and not self._is_ours(arguments[0]):
            self.seen.append(f"{name} {arguments[0]}")
        elif (
            name == "open"
            and isinstance(arguments[2], int)
            and arguments[2] & WRITES
            and not self._is_ours(arguments[0])
        ):
            self.seen.append(f"wrote {arguments[0]}")

    def _is_near(self, address: Any) -> bool:
        return not isinstance(address, tuple) or is_loopback(str(address[0]))

    def _is_ours(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return True  # an open file of this process
        return os.path.abspath(os.fsdecode(path)).startswith((*self._allowed, "/dev/", "/proc/"))


@contextmanager
def watched(allowed: Path) -> Iterator[Watch]:
    """Watch what happens inside. Bytecode that an import writes is no deed of what is watched, so none is written."""
    watch = Watch(allowed)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    _watching.append(watch)
    try:
        yield watch
    finally:
        _watching.remove(watch)
        sys.dont_write_bytecode = writes


def _hook(name: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watching:
        watch.event(name, arguments)


sys.addaudithook(_hook)  # can't be taken back, and does nothing while nothing is watched
