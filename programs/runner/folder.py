"""A run's folder: manifest.json and references.jsonl first, records.jsonl line by line, summary.json last.

A record is one line, flushed and synced before the next query starts, so a run that is killed at any instant loses at
most the query that it was at. A line that the kill cut in half is dropped when the run is taken up again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from metrics.record import RECORD_VERSION, QueryRecord
from programs.atomic import LineFile, replacing
from programs.errors import InputError
from programs.workloads.manifest import AnyManifest, differences, read_manifest
from programs.workloads.query import Reference

MANIFEST, REFERENCES, RECORDS, SUMMARY = "manifest.json", "references.jsonl", "records.jsonl", "summary.json"
Line = TypeVar("Line", bound=BaseModel)
WITHDRAWN = "withdrawn.jsonl"
"""Records of queries that found no model server, taken back when the run was taken up again. What they spent stays."""


class RunFolder:
    """A folder that holds a run. Reading it needs nothing but the folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: AnyManifest = read_manifest(path / MANIFEST)

    @property
    def name(self) -> str:
        """The folder's own name, which tables use."""
        return self.path.resolve().name

    def references(self) -> dict[str, Reference]:
        """Give the references by query id."""
        return {found.query_id: found for _, found in _lines(self.path / REFERENCES, Reference)}

    def records(self) -> Iterator[QueryRecord]:
        """Give the records, one at a time. Every line must be of this manifest."""
        path = self.path / RECORDS
        digest = self.manifest.digest
        for number, record in _lines(path, QueryRecord):
            if record.manifest != digest:
                raise InputError(
                    f"{path}, line {number}: a record of manifest {record.manifest} in a run of {digest};"
                    " records of two runs can't be mixed: start a new one with another --out"
                )
            yield record


class OpenRun(RunFolder):
    """A run's folder while the run writes to it. One process at a time."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        super().__init__(path)
        self._lock = lock
        self._mend()
        self._file = LineFile(path / RECORDS)

    @classmethod
    def open(cls, path: Path, manifest: AnyManifest, references: Sequence[Reference], resume: bool) -> Self:
        """Begin a run, or take the same one up again."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{path}: the folder can't be made ({error.strerror}); name another --out") from error
        lock = FileLock(path / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                f"{path}: another process is writing this run; wait for it, or name another --out"
            ) from error
        try:
            if (path / MANIFEST).exists():
                _check_same(path, manifest, resume)
            else:
                _begin(path, manifest, references)
            return cls(path, lock)
        except BaseException:
            lock.release()
            raise

    def append(self, record: QueryRecord) -> QueryRecord:
        """Write one record and wait until it is on the disk; give it back as it was written."""
        written = record.model_copy(update={"manifest": self.manifest.digest})
        self._file.add(written.model_dump_json().encode("utf-8", "surrogatepass") + b"\n", sync=True)
        return written

    def withdraw(self, method: str, queries: frozenset[str]) -> None:
        """Move records out of the run, so that their queries run again."""
        self._file.close()
        path = self.path / RECORDS
        aside = LineFile(self.path / WITHDRAWN)
        with closing(aside), replacing(path) as kept, path.open("rb") as lines:
            for line in lines:
                row = from_json(line)
                if row["method"] == method and row["query_id"] in queries:
                    aside.add(line, sync=True)
                else:
                    kept.write(line)
        self._file = LineFile(path)

    def finish(self, summary: dict[str, Any]) -> None:
        """Write the summary, which says that the run is complete."""
        with replacing(self.path / SUMMARY) as file:
            file.write(json.dumps(summary, indent=2, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Let another process write."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _mend(self) -> None:
        """Cut off what a kill left of a line."""
        path = self.path / RECORDS
        if not path.exists():
            return
        with path.open("r+b") as file:
            content_end = _end_of_last_line(file.seek(0, os.SEEK_END), file)
            file.truncate(content_end)
            os.fsync(file.fileno())


def _begin(path: Path, manifest: AnyManifest, references: Sequence[Reference]) -> None:
    leftover = [name for name in (RECORDS, SUMMARY) if (path / name).exists()]
    if leftover:
        raise InputError(f"{path}: holds {', '.join(leftover)} but no manifest; name another --out")
    with replacing(path / REFERENCES) as file:
        file.write(reference_lines(references))
    with replacing(path / MANIFEST) as file:
        file.write(manifest.model_dump_json(indent=2).encode() + b"\n")


def _check_same(path: Path, manifest: AnyManifest, resume: bool) -> None:
    if not resume:
        raise InputError(f"{path}: already holds a run; go on with it by --resume, or name another --out")
    stands = read_manifest(path / MANIFEST)
    if stands.digest != manifest.digest or type(stands) is not type(manifest):
        where = ", ".join(differences(manifest, stands)) or "kind"
        raise InputError(
            f"{path}: holds a run of another manifest, different in {where}; records of two manifests can't be mixed: "
            "run what it was started with, or name another --out"
        )


def reference_lines(references: Iterable[Reference]) -> bytes:
    """Write references as they stand in a run's folder and are hashed in its manifest."""
    return b"".join(reference.model_dump_json().encode("utf-8", "surrogatepass") + b"\n" for reference in references)


def _lines(path: Path, kind: type[Line]) -> Iterator[tuple[int, Line]]:
    """Read what a file holds, a line each, with the line's number."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return  # a kill cut it; `--resume` drops it
            try:
                yield number, kind.model_validate_json(line)
            except ValidationError as error:
                raise InputError(f"{path}, line {number}: {_what_is_wrong(line, kind, error)}") from error


def _what_is_wrong(line: bytes, kind: type[BaseModel], error: ValidationError) -> str:
    """Say why a line can't be read: it is of a later version, or it was changed."""
    first = error.errors()[0]
    try:
        row = from_json(line)
    except ValueError:
        return f"not a line of JSON ({first['msg']}); the file was changed"
    version = row.get("version") if isinstance(row, dict) else None
    if kind is QueryRecord and isinstance(version, int) and version != RECORD_VERSION:
        return f"a record of version {version}; this StateRAG reads version {RECORD_VERSION}: use the one that wrote it"
    where = ".".join(map(str, first["loc"])) or "the line"
    return f"not a {kind.__name__} as StateRAG writes it ({where}: {first['msg']}); the file was changed"


def _end_of_last_line(size: int, file: Any) -> int:
    """Find where the last whole line ends, reading backwards."""
    end = int(size)
    while end > 0:
        start = max(0, end - 65536)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return int(start + at + 1)
        end = start
    return 0
