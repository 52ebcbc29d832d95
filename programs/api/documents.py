"""Documents for a question: files and folders, or texts that are already in hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from programs.documents.collection import Collection, Source
from programs.documents.text import load_documents, within_limit
from programs.errors import InputError

Paths = str | PathLike[str]


def documents(given: Paths | Sequence[Paths] | Mapping[str, str], *more: Paths, strict: bool = False) -> Collection:
    """Gather documents: paths of files and folders, or a list of texts, or texts by name.

    One path, or several as further arguments, are read as `ask --docs` reads them. A list is one of paths where every
    item is a `Path` or names something that exists, and one of texts otherwise, which are called `text-1`, `text-2`, …
    A file of a folder that can't be used is skipped with a `SkippedFile` warning, or refused if `strict`. `.texts` of
    what comes back has each file's characters as offsets count them.
    Raises an `InputError` where there is nothing to read, or a file that was named can't be.
    """
    if isinstance(given, Mapping):
        return _texts(given)
    if isinstance(given, str | PathLike):
        return load_documents([Path(given), *map(Path, more)], strict)
    items = [*given, *more]
    if not all(isinstance(item, str | PathLike) for item in items):
        raise InputError("documents are paths or texts; got " + ", ".join({type(item).__name__ for item in items}))
    if items and all(isinstance(item, PathLike) or _exists(item) for item in items):
        return load_documents([Path(item) for item in items], strict)
    return _texts({f"text-{number}": str(text) for number, text in enumerate(items, start=1)})


def _texts(texts: Mapping[str, str]) -> Collection:
    for name, text in texts.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise InputError(f"a text by its name was expected, not {type(name).__name__} and {type(text).__name__}")
    kept = {name: text for name, text in texts.items() if text.strip()}
    if not kept:
        raise InputError(f"nothing to read: {len(texts)} texts, all of them blank" if texts else "no documents given")
    return within_limit(Collection(sources=tuple(Source(source_id=name, text=text) for name, text in kept.items())))


def _exists(item: str) -> bool:
    """Tell whether a text is a path of something; a long text or one with a NUL can't be."""
    try:
        return Path(item).exists()
    except (OSError, ValueError):
        return False
