"""What encoders computed, kept on disk by content: one SQLite file that several processes may use at once.

It is only a cache: a damaged or foreign file is put aside, and on a disk that can't be used the cache keeps nothing;
both are said as warnings. Its values are plain bytes, never objects to be loaded.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

APPLICATION_ID = 0x53524147
VERSION = 2
"""To be raised when the way of encoding changes, since what is kept is then no longer what would be computed."""
ASK_AT_ONCE = 500
WAIT_SECONDS = 30.0


class ForeignFile(sqlite3.DatabaseError):
    """The file is a database, but not one of ours, or not of this version."""


class ContentStore:
    """Keys to bytes. May be shared between threads; other processes may have the same file open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._open()

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Give what is kept of these keys."""
        with self._guard:
            try:
                return self._select(keys)
            except sqlite3.DatabaseError as error:
                self._mend(error)
                return {}

    def put(self, entries: Mapping[bytes, bytes]) -> None:
        """Keep entries, all or none."""
        with self._guard:
            try:
                self._insert(entries)
            except sqlite3.DatabaseError as error:
                self._mend(error)

    def close(self) -> None:
        """Close the file. A closed store keeps nothing and finds nothing."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _select(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        if self._connection is None:
            return found
        for at in range(0, len(keys), ASK_AT_ONCE):
            some = keys[at : at + ASK_AT_ONCE]
            marks = ",".join("?" * len(some))
            found.update(self._connection.execute(f"SELECT key, value FROM kept WHERE key IN ({marks})", some))
        return found

    def _insert(self, entries: Mapping[bytes, bytes]) -> None:
        if self._connection is not None and entries:
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", entries.items())

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connect(self._path)
        except (sqlite3.DatabaseError, OSError) as error:
            self._mend(error)

    def _mend(self, error: sqlite3.DatabaseError | OSError) -> None:
        """Go on after a fault: without the disk if it can't be used, with a new file if this one is no good."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        if isinstance(error, sqlite3.OperationalError | OSError):
            warnings.warn(f"{self._path} can't be used ({error}); computed vectors are not kept on disk", stacklevel=3)
            return
        aside = self._path.with_name(f"{self._path.name}.aside-{time.time_ns()}")
        warnings.warn(f"{self._path} is no usable cache ({error}); it is put aside as {aside.name}", stacklevel=3)
        _put_aside(self._path, aside)
        self._open()


def _connect(path: Path) -> sqlite3.Connection:
    """Open the file, making it if need be. A lock stands round this, so that two processes do not make it at once."""
    with FileLock(f"{path}.lock"):
        connection = sqlite3.connect(path, timeout=WAIT_SECONDS, check_same_thread=False)
        try:
            _prepare(connection)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    marks = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if marks == [0, 0] and tables == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE kept (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    elif marks != [APPLICATION_ID, VERSION]:
        raise ForeignFile("it belongs to another program or version")
    connection.execute("PRAGMA synchronous = NORMAL")


def _put_aside(path: Path, aside: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(f"{path}{suffix}"):
            os.replace(f"{path}{suffix}", f"{aside}{suffix}")
