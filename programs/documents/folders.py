"""The files below what a person gave: a folder's are taken as they are found, and one that can't be used is skipped.

A file that is named is the person's choice, links too. In a folder they did not choose each file, so a link may not
lead out of it, and what is neither a file nor a folder is never opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from programs.errors import InputError

Skip = Callable[[str], None]
"""Takes what is said of a file that is passed over."""


class FoundFile(NamedTuple):
    """A file, and what it is called relative to the path that the user gave."""

    path: Path
    name: str
    named: bool
    """Whether the user gave this very file, and not a folder that it is in."""


def files_below(path: Path, suffixes: Collection[str], readable: str, skip: Skip) -> Iterator[FoundFile]:
    """Give a file, or the files of a folder, in sorted order, that end in one of the suffixes."""
    if os.path.isdir(path):
        yield from _in_folder(path, suffixes, readable, skip)
    elif not os.path.lexists(path):
        raise InputError(f"{path}: no such file or folder")
    elif not os.path.isfile(path):
        raise InputError(f"{path}: neither a file nor a folder")
    elif path.suffix.lower() not in suffixes:
        kind = f"{path.suffix} files are" if path.suffix else "a file without a suffix is"
        raise InputError(f"{path}: {kind} not read; {readable}")
    else:
        yield FoundFile(path, _printable(path.name), named=True)


def read_bytes(path: Path, most: int) -> bytes:
    """Read a file whole. A pipe or device is not waited for, whenever it took the place of a file."""
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise InputError(f"{path}: can't be read: not a regular file")
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    if len(raw) > most:
        raise InputError(f"{path}: larger than {most // 1_000_000} MB, which is too much for one question; divide it")
    return raw


def _in_folder(folder: Path, suffixes: Collection[str], readable: str, skip: Skip) -> Iterator[FoundFile]:
    """Go through a folder past hidden files and folders, and past links to folders (no cycles)."""
    inside = os.path.realpath(folder)
    for root, folders, names in os.walk(folder, onerror=lambda error: _unreadable(error, folder, skip)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in folders):
            if path.is_symlink() and not _is_in(inside, path):
                skip(f"{path}: skipped, it is a link that leads out of {folder}")
        for path in (Path(root, name) for name in sorted(names) if not name.startswith(".")):
            if path.suffix.lower() not in suffixes:
                skip(f"{path}: skipped; {readable}")
            elif not _is_in(inside, path):
                skip(f"{path}: skipped, it is a link that leads out of {folder}")
            elif not os.path.isfile(path):
                skip(f"{path}: skipped, it is no file that can be read")
            else:
                yield FoundFile(path, _printable(path.relative_to(folder).as_posix()), named=False)


def _is_in(folder: str, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _unreadable(error: OSError, folder: Path, skip: Skip) -> None:
    said = f"{error.filename}: can't be read: {error.strerror}"
    if error.filename == os.fspath(folder):
        raise InputError(said) from error
    skip(f"{said}; skipped")


def _printable(name: str) -> str:
    """Write a file name that is not UTF-8 with escapes, since an id goes into records."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
