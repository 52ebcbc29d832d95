"""Text and Markdown files into a collection.

A file's bytes are decoded as UTF-8 and nothing else is done to them: `\\r\\n` stays two characters. A byte-order mark
is no part of the text and is dropped, so offset 0 is the first character after it.
"""

from __future__ import annotations

import codecs
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.registry import Registry

READERS: Registry[Callable[[Path], str]] = Registry("document format", "staterag.document_readers")
"""How a file becomes text, by its suffix in lower case."""


def readable() -> str:
    """Say what is read, for messages."""
    return f"text and Markdown files are read today ({', '.join(READERS.names())})"


class SkippedFile(UserWarning):
    """A file that was passed over; the message names it and says why."""


class _Found(NamedTuple):
    """A file, and what it is called relative to the path that the user gave."""

    path: Path
    name: str


def load_documents(paths: Sequence[Path]) -> Collection:
    """Read files, and folders with all that is below them, in the order given and sorted within a folder.

    A source's id is its path relative to the folder given, or the file's name; a second file of the same id gets
    `#2` after it. A file that is named twice is read once. Blank files are skipped with a `SkippedFile` warning.
    """
    found = _once(item for path in paths for item in _below(path))
    if not found:
        raise InputError(f"nothing to read in {_listed(paths)}: {readable()}")
    texts = [(item, READERS.get(item.path.suffix.lower())(item.path)) for item in found]
    kept = [(item, text) for item, text in texts if text.strip()]
    if not kept:
        raise InputError(f"nothing to read: {_listed([item.path for item in found])} is empty or blank")
    for item, text in texts:
        if not text.strip():
            warnings.warn(f"{item.path}: skipped, the file is empty or blank", SkippedFile, stacklevel=2)
    ids = _unique([item.name for item, _ in kept])
    return Collection(sources=tuple(Source(source_id=i, text=text) for i, (_, text) in zip(ids, kept, strict=True)))


def read_text(path: Path) -> str:
    """Decode a file as UTF-8 without touching its line ends."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    mark = len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    nul = raw.find(b"\0")
    if nul >= 0:
        raise InputError(f"{path}: not a text file: NUL byte at byte {nul}; save it as UTF-8 text")
    try:
        return raw[mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        at = mark + error.start
        raise InputError(f"{path}: not UTF-8: byte 0x{raw[at]:02x} at byte {at}; save it as UTF-8 text") from error


for _suffix in (".txt", ".text", ".md", ".markdown", ".rst"):
    READERS.register(_suffix)(read_text)


def _below(path: Path) -> Iterator[_Found]:
    if os.path.isdir(path):
        yield from _in_folder(path)
    elif not os.path.lexists(path):
        raise InputError(f"{path}: no such file or folder")
    elif not os.path.isfile(path):
        raise InputError(f"{path}: neither a file nor a folder")
    elif path.suffix.lower() not in READERS.names():
        kind = f"{path.suffix} files are" if path.suffix else "a file without a suffix is"
        raise InputError(f"{path}: {kind} not read; {readable()}")
    else:
        yield _Found(path, _printable(path.name))


def _in_folder(folder: Path) -> Iterator[_Found]:
    """Go through a folder in sorted order, past hidden files and folders, and past links to folders (no cycles)."""
    for root, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in sorted(names) if not name.startswith(".")):
            if path.suffix.lower() not in READERS.names():
                warnings.warn(f"{path}: skipped; {readable()}", SkippedFile, stacklevel=2)
            elif path.is_file():
                yield _Found(path, _printable(path.relative_to(folder).as_posix()))


def _unreadable(error: OSError) -> NoReturn:
    raise InputError(f"{error.filename}: can't be read: {error.strerror}") from error


def _printable(name: str) -> str:
    """Write a file name that is not UTF-8 with escapes, since an id goes into records."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _once(found: Iterator[_Found]) -> list[_Found]:
    first: dict[Path, _Found] = {}
    for item in found:
        first.setdefault(item.path.resolve(), item)
    return list(first.values())


def _unique(names: Sequence[str]) -> list[str]:
    """Number repeated names in order, past any number that is another file's own name."""
    taken = set(names)
    seen: set[str] = set()
    ids = []
    for name in names:
        candidate, number = name, 2
        while candidate in seen or (candidate != name and candidate in taken):
            candidate, number = f"{name}#{number}", number + 1
        seen.add(candidate)
        ids.append(candidate)
    return ids


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(str(path) for path in paths) or "an empty list of paths"
