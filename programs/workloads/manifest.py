"""What a run is of, down to hashes, so that someone else can get it again and nobody can mix two runs.

There are two types, because selection must never see an evaluation query: `optimize` takes a `DevManifest`, and
a `LockedManifest` is not one.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from programs.content_key import content_key
from programs.errors import InputError
from programs.frozen import Frozen
from programs.json_file import faults, read_whole
from programs.models.identity import ModelIdentity

VERSION: Literal[1] = 1


class QueryEntry(Frozen):
    """One query at its place in the order."""

    query_id: str
    question: str = Field(description="hash of the question's text")
    collection: str = Field(description="digest of its sources, a key of `collections`")


class QuestionSet(Frozen):
    """The ordered queries and their sources. Two runs can be compared query by query where this is the same."""

    workload: str
    split: Literal["dev", "eval"]
    files: dict[str, str] = Field(description="name and sha256 of each file that was read")
    queries: tuple[QueryEntry, ...]
    collections: dict[str, tuple[str, ...]] = Field(description="digest of a collection to its source ids, in order")
    references: str = Field(description="sha256 of the references that answers are scored against")

    @cached_property
    def digest(self) -> str:
        """A name of exactly these questions over these sources in this order."""
        return content_key(self.model_dump_json(exclude={"files"}))


class MethodEntry(Frozen):
    """A method and what it runs with."""

    name: str
    settings: dict[str, Any]
    settings_digest: str
    compiled: str | None = Field(None, description="sha256 of the compiled program, where one was loaded")

    @property
    def reader_budget(self) -> int | None:
        """How much evidence was read at most, in tokens; None where the file does not say."""
        found = self._lifecycle.get("reader_budget")
        return found if isinstance(found, int) else None

    @property
    def answers(self) -> bool:
        """Whether the reader was asked."""
        return self._lifecycle.get("answer") is not False

    @property
    def _lifecycle(self) -> dict[str, Any]:
        """Settings of an older version may lack some, and a file may hold anything."""
        found = self.settings.get("lifecycle")
        return found if isinstance(found, dict) else {}


class SelectionEntry(Frozen):
    """The locked selection that compiled programs are of."""

    lock: str = Field(description="digest of the lock")
    development: str = Field(description="digest of the development questions that it was made on")


class GitState(Frozen):
    """The code that ran."""

    revision: str
    dirty: bool
    changes: str | None = Field(None, description="sha256 of what differs from the revision")


class Manifest(Frozen):
    """Everything that a run's records depend on. `created` is the one field that does not count."""

    version: Literal[1] = VERSION
    questions: QuestionSet
    preset: str
    methods: tuple[MethodEntry, ...] = Field(min_length=1)
    models: tuple[ModelIdentity, ...]
    selection: SelectionEntry | None = Field(None, description="where compiled programs answer an eval split")
    packages: dict[str, str]
    python: str
    machine: str
    git: GitState | None
    created: str

    @cached_property
    def digest(self) -> str:
        """A name of this manifest, which every record of its run carries."""
        return content_key(self.model_dump_json(exclude=self._uncounted))[:16]

    @property
    def _uncounted(self) -> set[str]:
        """A run without a selection is called what it was before there were any."""
        return {"created"} if self.selection else {"created", "selection"}


class DevManifest(Manifest):
    """A development run: what selection may look at."""

    kind: Literal["dev"] = "dev"


class LockedManifest(Manifest):
    """An evaluation run: nothing may be chosen by it."""

    kind: Literal["locked"] = "locked"


AnyManifest = DevManifest | LockedManifest
_READ: TypeAdapter[AnyManifest] = TypeAdapter(Annotated[AnyManifest, Field(discriminator="kind")])


def manifest_type(split: Literal["dev", "eval"]) -> type[DevManifest] | type[LockedManifest]:
    """Lock every evaluation split."""
    return DevManifest if split == "dev" else LockedManifest


def read_manifest(path: Path) -> AnyManifest:
    """Read a manifest.json."""
    if not os.path.exists(path):
        raise InputError(f"{path.parent}: no manifest.json, so no run; name a folder that `eval --out` wrote")
    try:
        return _READ.validate_json(read_whole(path, "name a folder that `eval --out` wrote"))
    except ValidationError as error:
        raise InputError(f"{path}: not a run's manifest: {faults(error)}") from error


def differences(ours: Manifest, theirs: Manifest) -> list[str]:
    """Name the fields in which two manifests differ, deepest first place of each, for a person to act on."""
    return list(_different(_tree(ours), _tree(theirs), ""))[:8]


def _tree(manifest: Manifest) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(manifest.model_dump_json(exclude={"created"}))
    return tree


def _different(ours: Any, theirs: Any, where: str) -> list[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = dict.fromkeys([*ours, *theirs])
        return [item for key in keys for item in _different(ours.get(key), theirs.get(key), f"{where}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [item for i, (a, b) in pairs for item in _different(a, b, f"{where}[{i}]")]
    return [] if ours == theirs else [where.lstrip(".")]
