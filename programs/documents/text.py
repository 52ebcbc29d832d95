"""Text and Markdown files into a collection. Their characters are exactly the file's, as `encodings` says."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from programs.documents.collection import Collection, Source
from programs.documents.encodings import decoded
from programs.documents.folders import FoundFile, Skip, files_below, read_bytes
from programs.errors import InputError
from programs.registry import Registry

READERS: Registry[Callable[[Path], str]] = Registry("document format", "staterag.document_readers")
"""How a file becomes text, by its suffix in lower case. A file that can't be used is an `InputError`."""
LARGEST = 100_000_000
"""Bytes of a file, and characters of all together: to encode as much takes a processor hours."""

LISTED = 5
"""Paths that one message names."""


def readable() -> str:
    """Say what is read, for messages."""
    return f"text and Markdown files are read today ({', '.join(READERS.names())})"


class SkippedFile(UserWarning):
    """A file that was passed over; the message names it and says why."""


def load_documents(paths: Sequence[Path], strict: bool = False) -> Collection:
    """Read files, and folders with all that is below them, in the order given and sorted within a folder.

    A source's id is its path relative to the folder given, or the file's name; a second file of the same id gets
    `#2` after it. A file that is named twice is read once. A blank file, and one of a folder that can't be read or is
    no text, is skipped with a `SkippedFile` warning; if `strict`, it is an `InputError`.
    """
    skip = _refuse if strict else _warn
    names = READERS.names()
    found = _once(item for path in paths for item in files_below(path, names, readable(), skip))
    if not found:
        raise InputError(f"nothing to read in {_listed(paths)}: {readable()}")
    texts = list(_readable(found, skip))
    if not texts:
        raise InputError(f"nothing to read in {_listed(paths)}: none of its files could be used")
    kept = [(item, text) for item, text in texts if text.strip()]
    if not kept:
        raise InputError(f"nothing to read: {_listed([item.path for item, _ in texts])} is empty or blank")
    for item, text in texts:
        if not text.strip():
            skip(f"{item.path}: skipped, the file is empty or blank")
    ids = _unique([item.name for item, _ in kept])
    return within_limit(
        Collection(sources=tuple(Source(source_id=i, text=text) for i, (_, text) in zip(ids, kept, strict=True)))
    )


def text_files(path: Path) -> list[Path]:
    """Give the files that `load_documents` reads of a path, sorted; a file, or what is not there, is itself."""
    if not os.path.isdir(path):
        return [path]
    return sorted(item.path for item in files_below(path, READERS.names(), readable(), lambda said: None))


def within_limit(collection: Collection) -> Collection:
    """Give a collection back unless it is larger than what one question can be asked of."""
    size = sum(len(source.text) for source in collection.each())
    if size > LARGEST:
        raise InputError(
            f"the documents have {size:,} characters, and a question may be asked of {LARGEST:,} at most; "
            "give fewer files, or ask of one part after another"
        )
    return collection


def read_text(path: Path) -> str:
    """Give a file's characters without touching its line ends."""
    return decoded(read_bytes(path, LARGEST), path)


for _suffix in (".txt", ".text", ".md", ".markdown", ".rst"):
    READERS.register(_suffix)(read_text)


def _readable(found: Iterable[FoundFile], skip: Skip) -> Iterator[tuple[FoundFile, str]]:
    for item in found:
        try:
            yield item, READERS.get(item.path.suffix.lower())(item.path)
        except InputError as error:
            if item.named:
                raise
            skip(f"{error}; skipped")


def _warn(said: str) -> None:
    warnings.warn(said, SkippedFile, stacklevel=3)


def _refuse(said: str) -> NoReturn:
    raise InputError(said)


def _once(found: Iterator[FoundFile]) -> list[FoundFile]:
    first: dict[str, FoundFile] = {}
    for item in found:
        first.setdefault(os.path.realpath(item.path), item)
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
    more = f" and {len(paths) - LISTED} more" if len(paths) > LISTED else ""
    return ", ".join(str(path) for path in paths[:LISTED]) + more or "an empty list of paths"
