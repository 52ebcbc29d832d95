"""A run's folder: manifest.json and references.jsonl first, records.jsonl line by line, summary.json last.

A record is one line, flushed and synced before the next query starts, so a run that is killed at any instant loses at
most the query that it was at. A line that the kill cut in half is dropped when the run is taken up again.

Whoever reads a run learns of a change: the manifest has the references' sha256, every record that of its own line and
the manifest's digest, and the summary that of all records. No key is in it, so it is a guard against mistakes and
edits, and not against someone who works out the sums anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from metrics.record import RECORD_VERSION, QueryRecord
from programs.atomic import LineFile, replacing
from programs.errors import InputError
from programs.json_file import faults, read_whole, shortened
from programs.workloads.manifest import AnyManifest, differences, read_manifest
from programs.workloads.query import Reference

MANIFEST, REFERENCES, RECORDS, SUMMARY = "manifest.json", "references.jsonl", "records.jsonl", "summary.json"
Line = TypeVar("Line", bound=BaseModel)
WITHDRAWN = "withdrawn.jsonl"
"""Records of queries that found no model server, taken back when the run was taken up again. What they spent stays."""
LONGEST = 64 * 2**20
"""Bytes of a line. A record has thousands of them, or a million if its evidence is long."""
ADVICE = "put back what the run wrote, or run it again with another --out"
NOT_AS_WRITTEN = f"not as it was written; the file was changed: {ADVICE}"


class Unchecked(UserWarning):
    """A run whose records an earlier version wrote, which did not say what they should add up to."""


class SummaryFile(BaseModel):
    """What of a summary is read again."""

    model_config = ConfigDict(extra="ignore")
    sha256: dict[str, str] = {}


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
        """Give the references by query id, if they are those of the manifest."""
        path = self.path / REFERENCES
        data = read_whole(path, ADVICE)
        if hashlib.sha256(data).hexdigest() != self.manifest.questions.references:
            raise InputError(f"{path}: not the references that the manifest names; the file was changed: {ADVICE}")
        lines = enumerate(BytesIO(data), start=1)
        found = (_parsed(path, number, line, Reference) for number, line in lines)
        return {reference.query_id: reference for reference in found}

    def records(self) -> Iterator[QueryRecord]:
        """Give the records, one at a time. Every line must be of this manifest, and be as it was written.

        What only shows in the end, that lines are gone or in another order, is said after the last one.
        """
        path = self.path / RECORDS
        expected = self._sha256_of_records()
        seen = hashlib.sha256()
        checked = unchecked = 0
        for number, line in _whole_lines(path):
            seen.update(line)
            if not line.endswith(b"\n"):
                break  # a kill cut it; `--resume` drops it
            record = self._record(number, line)
            if record.check is None and checked:
                raise InputError(f"{path}, line {number}: {NOT_AS_WRITTEN}")
            checked += record.check is not None
            unchecked += record.check is None
            yield record
        if expected is not None and seen.hexdigest() != expected:
            raise InputError(
                f"{path}: not the records that {SUMMARY} was made from; the file was changed: {ADVICE}, or remove "
                f"{SUMMARY} and go on with what is there by `eval --resume`"
            )
        if unchecked and expected is None:
            message = f"{self.path}: {unchecked} records of an earlier version can't be checked for changes"
            warnings.warn(message, Unchecked, stacklevel=2)

    def _record(self, number: int, line: bytes) -> QueryRecord:
        """Read a record that is of this manifest and adds up to what it says."""
        path, digest = self.path / RECORDS, self.manifest.digest
        record = _parsed(path, number, line, QueryRecord)
        if record.manifest != digest:
            raise InputError(
                f"{path}, line {number}: a record of manifest {shortened(str(record.manifest))} in a run of {digest}; "
                "records of two runs can't be mixed: start a new one with another --out"
            )
        if record.check is not None and not is_as_written(line):
            raise InputError(f"{path}, line {number}: {NOT_AS_WRITTEN}")
        return record

    def sha256(self, name: str) -> str:
        """Give the sha256 of a file as it is now; of nothing, where there is none."""
        if not (self.path / name).exists():
            return hashlib.sha256().hexdigest()
        with (self.path / name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _sha256_of_records(self) -> str | None:
        """Read what the records of a finished run add up to; None while it goes on, or where an older one ended."""
        path = self.path / SUMMARY
        if not os.path.exists(path):
            return None
        remedy = "remove it, and `eval --resume` writes it anew"
        try:
            return SummaryFile.model_validate_json(read_whole(path, remedy)).sha256.get(RECORDS)
        except ValidationError as error:
            raise InputError(f"{path}: not a summary ({faults(error)}); {remedy}") from error


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
        except OSError as error:
            raise InputError(f"{path}: nothing can be written there ({error.strerror}); name another --out") from error
        try:
            if (path / MANIFEST).exists():
                _check_same(path, manifest, resume)
                RunFolder(path).references()  # before anything is spent
            else:
                _begin(path, manifest, references)
            return cls(path, lock)
        except BaseException:
            lock.release()
            raise

    def append(self, record: QueryRecord) -> QueryRecord:
        """Write one record and wait until it is on the disk; give it back as it was written."""
        written = record.model_copy(update={"manifest": self.manifest.digest})
        line = sealed(written.model_dump_json(exclude={"check"}).encode("utf-8", "surrogatepass"))
        self._goes_on()
        self._file.add(line, sync=True)
        return written.model_copy(update={"check": check_of(line)})

    def withdraw(self, method: str, queries: frozenset[str]) -> None:
        """Move records out of the run, so that their queries run again."""
        self._file.close()
        self._goes_on()
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

    def _goes_on(self) -> None:
        """Take the summary away before the records change: it would no longer be theirs."""
        (self.path / SUMMARY).unlink(missing_ok=True)

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


CHECK = b',"check":"'
DIGITS = 64


def sealed(record: bytes) -> bytes:
    """Make a line of a record's JSON, with the sha256 of all that is before it."""
    return record[:-1] + CHECK + hashlib.sha256(record).hexdigest().encode() + b'"}\n'


def check_of(line: bytes) -> str:
    """Give what a sealed line says that it adds up to."""
    return line[-DIGITS - 3 : -3].decode("ascii", "replace")


def is_as_written(line: bytes) -> bool:
    """Tell whether a line adds up to what it says."""
    return sealed(line[: -len(CHECK) - DIGITS - 3] + b"}") == line


def _whole_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number the lines of a file; the last may lack its end. One of any length is not read into memory."""
    if not os.path.lexists(path):
        return
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), start=1):
                if len(line) > LONGEST:
                    raise InputError(f"{path}, line {number}: longer than {LONGEST:,} bytes; the file was changed")
                yield number, line
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from error


def _parsed(path: Path, number: int, line: bytes, kind: type[Line]) -> Line:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise InputError(f"{path}, line {number}: {_what_is_wrong(line, kind, error)}") from error


def _what_is_wrong(line: bytes, kind: type[BaseModel], error: ValidationError) -> str:
    """Say why a line can't be read: it is of a later version, or it was changed."""
    try:
        row = from_json(line)
    except ValueError:
        return f"not a line of JSON ({faults(error)}); the file was changed"
    version = row.get("version") if isinstance(row, dict) else None
    if kind is QueryRecord and isinstance(version, int) and version != RECORD_VERSION:
        later = shortened(str(version))
        return f"a record of version {later}; this StateRAG reads version {RECORD_VERSION}: use the one that wrote it"
    return f"not a {kind.__name__} as StateRAG writes it ({faults(error)}); the file was changed"


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
