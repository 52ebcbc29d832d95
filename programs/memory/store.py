"""The global store M_g of one workload scope: one SQLite file, or the same tables in memory.

A persist is one transaction in a write-ahead log with `synchronous=FULL`: when `persist` returns, the log has been
flushed to the disk. A killed process alone would need only NORMAL, but a power cut under NORMAL may drop the last
commits while the run's record of the same query survives, and a resumed run would then see less memory than one never
stopped. The flush costs a fraction of a millisecond to a few, twice a query at most.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from programs.atomic import CantWrite
from programs.errors import InputError
from programs.memory.artifacts import Artifact, Kind, Payload
from programs.models.encoders.encoder import Vectors

APPLICATION_ID = 0x53524147
SCHEMA_VERSION = 3
BUSY_SECONDS = 30.0
TOLERANCE = 1e-6
"""Unit vectors of 32-bit floats miss length 1 by about this much, and a threshold of 1.0 should mean the same text."""

_SCHEMA = f"""
CREATE TABLE workload (scope_key TEXT NOT NULL);
CREATE TABLE artifacts (
    artifact_id TEXT NOT NULL,
    grounds TEXT NOT NULL,
    asked_of TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    producer TEXT NOT NULL,
    provenance TEXT NOT NULL,
    vector BLOB,
    PRIMARY KEY (artifact_id, grounds, asked_of, position)
);
CREATE TABLE collections (collection TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (collection, content));
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""

# Each query's own write is kept, so that rewinding never loses what must stay and a horizon never what it may show.
# So is each that stands on other sources: a query that has those alone may read no other.
_INSERT = """
INSERT INTO artifacts (artifact_id, grounds, asked_of, position, kind, key, payload, producer, provenance, vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (artifact_id, grounds, asked_of, position) DO NOTHING
"""

_SELECT = """
SELECT artifact_id, kind, payload, grounds, asked_of FROM artifacts
WHERE artifact_id IN (SELECT value FROM json_each(?)) AND position >= ? AND position < ?
ORDER BY position, rowid
"""

_SHARES = """
SELECT 1 FROM collections WHERE collection = ? AND content IN (SELECT value FROM json_each(?)) LIMIT 1
"""


class StoredArtifact(NamedTuple):
    """An artifact as the store has it, and what a query must have among its sources to read it."""

    kind: Kind
    payload: Payload
    grounds: tuple[str, ...]
    asked_of: str | None


class SqliteStore:
    """Global artifacts, each with the position in the query order of the query that wrote it."""

    def __init__(self, path: Path | None, scope_key: str) -> None:
        """Open the scope's file, or make it. `None` keeps everything in memory."""
        self._path = path
        self._lock = RLock()
        self._plans = PlanIndex()
        self._plans_version: int | None = None
        with self._faults():
            self._db = _connect(path)
        try:
            self._prepare(scope_key)
        except BaseException:
            self._db.close()
            raise

    def __len__(self) -> int:
        with self._faults():
            return int(self._db.execute("SELECT count(DISTINCT artifact_id) FROM artifacts").fetchone()[0])

    def find(self, ids: Sequence[str], before: int, since: int = 0) -> dict[str, list[StoredArtifact]]:
        """Give the artifacts of these ids that queries from `since` to before `before` wrote, the earliest's first.

        An id has several where several queries wrote it, whichever wrote first, and over whatever sources.
        """
        with self._faults():
            rows = self._db.execute(_SELECT, (json.dumps(list(ids)), since, before)).fetchall()
        found: dict[str, list[StoredArtifact]] = {}
        for name, kind, payload, grounds, asked_of in rows:
            one = StoredArtifact(Kind(kind), json.loads(payload), tuple(json.loads(grounds)), asked_of or None)
            found.setdefault(name, []).append(one)
        return found

    def shares(self, collection: str, contents: Collection[str]) -> bool:
        """Tell whether a collection that was asked of has a source of one of these contents."""
        with self._faults():
            return self._db.execute(_SHARES, (collection, json.dumps(list(contents)))).fetchone() is not None

    def similar_plans(self, vector: Vectors, at_least: float, limit: int, before: int, since: int = 0) -> list[str]:
        """Give ids of plans whose query is like this one, best first, ties in the order of the queries."""
        with self._faults():
            self._check_dimension(vector)
            return self._plans.nearest(vector, at_least, limit, before, since)

    def persist(
        self, artifacts: Sequence[Artifact], position: int, vector: Vectors | None, contents: Iterable[str] = ()
    ) -> None:
        """Write artifacts of the query at `position`, all or none; its plans carry the query's vector.

        `contents` are those of the sources that it was asked of.
        """
        with self._faults():
            if vector is not None:
                self._check_dimension(vector)
            with self._transaction():
                self._db.executemany(_INSERT, [_row(artifact, position, vector) for artifact in artifacts])
                for collection in {artifact.asked_of for artifact in artifacts if artifact.asked_of}:
                    self._keep(collection, contents)
            if vector is not None:
                for artifact in artifacts:
                    if artifact.kind is Kind.PLAN:
                        self._plans.put(artifact.artifact_id, position, vector)

    def rewind(self, position: int) -> None:
        """Forget what the queries from `position` on wrote, as a resumed run must before it repeats them."""
        with self._transaction():
            self._db.execute("DELETE FROM artifacts WHERE position >= ?", (position,))
            self._db.execute("DELETE FROM collections WHERE collection NOT IN (SELECT asked_of FROM artifacts)")
        self._plans_version = None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @property
    def _name(self) -> str:
        return "memory" if self._path is None else str(self._path)

    def _keep(self, collection: str, contents: Iterable[str]) -> None:
        known = self._db.execute("SELECT 1 FROM collections WHERE collection = ? LIMIT 1", (collection,)).fetchone()
        if known is None:
            rows = [(collection, content) for content in dict.fromkeys(contents)]
            self._db.executemany("INSERT INTO collections VALUES (?, ?)", rows)

    def _prepare(self, scope_key: str) -> None:
        with self._faults():
            if self._is_new():
                with self._transaction():
                    if self._is_new():
                        self._create(scope_key)
            self._check_is_ours(scope_key)
            self._use_write_ahead_log()
            self._db.execute("PRAGMA synchronous = FULL")

    def _use_write_ahead_log(self) -> None:
        """Switch over, waiting for other processes here because SQLite does not wait for this one statement."""
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    def _is_new(self) -> bool:
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return bool(tables == 0 and self._pragma("application_id") == 0 and self._pragma("user_version") == 0)

    def _create(self, scope_key: str) -> None:
        for statement in _SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.execute("INSERT INTO workload VALUES (?)", (scope_key,))

    def _check_is_ours(self, scope_key: str) -> None:
        if self._pragma("application_id") != APPLICATION_ID:
            raise InputError(f"{self._name}: a SQLite file of another program; name another memory file")
        version = self._pragma("user_version")
        if version != SCHEMA_VERSION:
            raise InputError(
                f"{self._name}: memory of format {version} where this program reads {SCHEMA_VERSION};"
                " delete the file, or run the program that wrote it"
            )
        faults = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if faults != "ok":
            raise InputError(self._damaged(faults))
        written = next((row[0] for row in self._db.execute("SELECT scope_key FROM workload")), None)
        if written != scope_key:
            raise InputError(
                f"{self._name}: memory of workload scope {written!r}, asked for as {scope_key!r};"
                " artifacts don't pass between workloads: give each its own file"
            )

    def _pragma(self, name: str) -> int:
        return int(self._db.execute(f"PRAGMA {name}").fetchone()[0])

    def _check_dimension(self, vector: Vectors) -> None:
        self._refresh_plans()
        if self._plans.dimension not in (None, len(vector)):
            raise InputError(
                f"{self._name}: its plans were encoded in {self._plans.dimension} dimensions, this query in"
                f" {len(vector)}; give each encoder a memory file of its own"
            )

    def _refresh_plans(self) -> None:
        """Read the plans again when another process wrote to the file since."""
        version = self._pragma("data_version")
        if version == self._plans_version:
            return
        self._plans = PlanIndex()
        rows = self._db.execute(
            "SELECT artifact_id, position, vector FROM artifacts WHERE vector IS NOT NULL ORDER BY rowid"
        )
        for name, position, blob in rows:
            self._plans.put(name, position, np.frombuffer(blob, dtype="<f4"))
        self._plans_version = version

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Hold the connection, and turn the faults of a file into ones that say what to do about them."""
        with self._lock:
            try:
                yield
            except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
                raise
            except sqlite3.DatabaseError as error:
                if _is_busy(error):
                    raise InputError(
                        f"{self._name}: another process has held this memory file for {BUSY_SECONDS:.0f} s;"
                        " wait for it to end, or give this run a file of its own"
                    ) from error
                if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
                    raise CantWrite(
                        f"{self._name}: can't be written ({error}); what was finished is kept: make room, and go on "
                        "with --resume"
                    ) from error
                raise InputError(self._damaged(str(error))) from error

    def _damaged(self, detail: str) -> str:
        said = " ".join(detail.split())
        return f"{self._name}: can't be used as memory ({said}); move the file away and start the run afresh"


class PlanIndex:
    """Query vectors of plans as one matrix, so that ten thousand are compared in one pass."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        """Of each id, in the order in which they came."""
        self._writes: set[tuple[str, int]] = set()
        self._plans: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """The number of each row's id: a plan has a row for each query that left it."""
        self._positions: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._matrix: Vectors = np.zeros((0, 0), dtype=np.float32)

    @property
    def dimension(self) -> int | None:
        """The length of the vectors, or None while there is none."""
        return self._matrix.shape[1] if self._ids else None

    def put(self, name: str, position: int, vector: Vectors) -> None:
        """Add a plan as the query at a position left it; of the same query's, the first stands."""
        if (name, position) in self._writes:
            return
        self._writes.add((name, position))
        row = len(self._ids)
        self._make_room(row, len(vector))
        self._ids.append(name)
        self._plans[row] = self._numbers.setdefault(name, len(self._numbers))
        self._positions[row] = position
        self._matrix[row] = vector

    def nearest(self, vector: Vectors, at_least: float, limit: int, before: int, since: int = 0) -> list[str]:
        """Give at most `limit` ids of plans from position `since` to before `before`, best first.

        One pass finds the candidates, and their cosines are then computed again in double precision, row by row, so
        that a tie is a tie whatever else the matrix holds. The pass is `einsum` and not `@`: it stays on this thread,
        where waking BLAS's threads on a busy machine takes ten times as long as the sums.
        """
        count = len(self._ids)
        if count == 0 or limit == 0:
            return []
        rough = np.einsum("ij,j->i", self._matrix[:count], vector)
        rough[~self._earliest(before, since)] = -np.inf
        last = count - min(limit, count)
        floor = max(at_least, float(np.partition(rough, last)[last]))
        rows = np.flatnonzero(rough >= floor - 10 * TOLERANCE)
        cosines = (self._matrix[rows].astype(np.float64) * vector.astype(np.float64)).sum(axis=1)
        order = np.lexsort((rows, self._positions[rows], -cosines))
        return [self._ids[rows[i]] for i in order if cosines[i] >= at_least - TOLERANCE][:limit]

    def _earliest(self, before: int, since: int) -> npt.NDArray[np.bool_]:
        """Mark the rows between two positions, of a plan that several queries left there the earliest's alone."""
        positions = self._positions[: len(self._ids)]
        between = (positions >= since) & (positions < before)
        if len(self._numbers) == len(self._ids):
            return between
        rows = np.flatnonzero(between)
        rows = rows[np.argsort(positions[rows], kind="stable")]
        _, first = np.unique(self._plans[rows], return_index=True)
        earliest = np.zeros_like(between)
        earliest[rows[first]] = True
        return earliest

    def _make_room(self, row: int, dimension: int) -> None:
        if row >= len(self._matrix):
            capacity = max(64, 2 * row)
            self._matrix.resize((capacity, dimension), refcheck=False)
            self._plans.resize(capacity, refcheck=False)
            self._positions.resize(capacity, refcheck=False)


def _is_busy(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: its folder can't be made ({error}); name another memory file") from error
    target = ":memory:" if path is None else path
    return sqlite3.connect(target, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _row(artifact: Artifact, position: int, vector: Vectors | None) -> tuple[object, ...]:
    blob = vector.astype("<f4").tobytes() if vector is not None and artifact.kind is Kind.PLAN else None
    return (
        artifact.artifact_id,
        json.dumps(artifact.grounds),
        artifact.asked_of or "",
        position,
        artifact.kind.value,
        artifact.key,
        json.dumps(artifact.payload),
        artifact.producer.value,
        json.dumps(artifact.provenance),
        blob,
    )
