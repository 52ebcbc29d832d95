"""Indexes that several queries of a run share: built by the first that needs one, found by the rest.

The query that built an index pays for it, and the index's folder says which query that was. A resumed run drops the
indexes of queries that left no record: they are built, and paid for, again, so that every record comes out the same
as in a run that was never stopped.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from programs.atomic import CantWrite, writing

T = TypeVar("T")
KEPT = 4
"""Indexes held in the process, the last ones used."""


class Codec(Protocol[T]):
    """How an index is written to a folder and read from it."""

    def save(self, index: T, folder: Path) -> None:
        """Write the index into an existing, empty folder."""

    def load(self, folder: Path) -> T:
        """Read what `save` wrote."""


class InPieces(NamedTuple):
    """A file that numpy writes to in pieces. Given a real one, it keeps to itself why a disk takes no more."""

    write: Callable[[bytes], int]


def write_parts(folder: Path, body: Any, **arrays: npt.NDArray[Any]) -> None:
    """Write an index's plain values as index.json, and each of its arrays as NAME.npy."""
    (folder / "index.json").write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(InPieces(file.write), array, allow_pickle=False)


def read_parts(folder: Path) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """Read what `write_parts` wrote: the plain values, and the arrays by name."""
    body = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return body, {path.stem: np.load(path, allow_pickle=False) for path in sorted(folder.glob("*.npy"))}


class Indexes:
    """The indexes of one method in one run."""

    def __init__(self, folder: Path | None = None, shared: Container[str] = ()) -> None:
        """Keep the indexes of collections in `shared` (digests) below `folder`, and any others in the process alone."""
        self._folder = folder
        self._shared = shared
        self._held: OrderedDict[str, Any] = OrderedDict()
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._guard = threading.Lock()

    def get(self, collection: str, position: int, build: Callable[[], T], codec: Codec[T] | None = None) -> T:
        """Give the index of a collection (its digest), built on behalf of the query at `position` if there is none."""
        with self._guard:
            lock = self._locks[collection]
        with lock:
            if collection not in self._held:
                self._hold(collection, self._load_or_build(collection, position, build, codec))
            with self._guard:
                self._held.move_to_end(collection)
                held: T = self._held[collection]
        return held

    def retain(self, positions: Container[int]) -> None:
        """Drop the indexes that were built for a query at none of these positions."""
        self._held.clear()
        if self._folder is None or not self._folder.is_dir():
            return
        for entry in sorted(self._folder.iterdir()):
            _, _, position = entry.name.partition("@")
            if not position.isdecimal() or int(position) not in positions:
                shutil.rmtree(entry)

    def __deepcopy__(self, memo: dict[int, Any]) -> Indexes:
        """Stay one: an optimiser's copies of a program share what was built."""
        return self

    def _load_or_build(self, collection: str, position: int, build: Callable[[], T], codec: Codec[T] | None) -> T:
        if self._folder is None or codec is None or collection not in self._shared:
            return build()
        found = next(self._folder.glob(f"{collection}@*"), None)
        if found is not None:
            return codec.load(found)
        index = build()
        draft = self._folder / f"draft-{collection}-{os.getpid()}"
        try:
            with writing(draft):
                draft.mkdir(parents=True)
                codec.save(index, draft)
                os.replace(draft, self._folder / f"{collection}@{position}")
        except CantWrite:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return index

    def _hold(self, collection: str, index: Any) -> None:
        with self._guard:
            self._held[collection] = index
            while len(self._held) > KEPT:
                self._held.popitem(last=False)
