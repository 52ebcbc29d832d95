"""An evaluation before it runs: which methods, with which settings, on which questions, and the manifest of it all."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from programs.errors import InputError
from programs.keys import content_key
from programs.methods.compiled import Compiled
from programs.methods.indexes import Indexes
from programs.methods.program import Program
from programs.methods.registry import method_class, open_method
from programs.models.runtime import Runtime
from programs.models.verified import sha256_of
from programs.runner import surroundings
from programs.runner.folder import reference_lines
from programs.settings import Settings
from programs.workloads.manifest import AnyManifest, MethodEntry, QueryEntry, QuestionSet, manifest_type
from programs.workloads.query import Query, Reference
from programs.workloads.registry import Workload


@dataclass(frozen=True)
class Contender:
    """A method as it will run."""

    name: str
    settings: Settings
    compiled: Compiled | None = None

    def entry(self) -> MethodEntry:
        """Give its place in the manifest."""
        return MethodEntry(
            name=self.name,
            settings=self.settings.model_dump(mode="json"),
            settings_digest=self.settings.digest,
            compiled=self.compiled.digest if self.compiled else None,
        )

    def open(self, runtime: Runtime, workload: str, place: Path | None, shared: frozenset[str]) -> Program:
        """Make its program, with memory and indexes in its folder of the run."""
        program = open_method(
            self.name,
            replace(runtime, settings=self.settings),
            workload,
            Indexes(place / "indexes" if place else None, shared),
            place / "memory.sqlite" if place else None,
        )
        if self.compiled is not None:
            self.compiled.load_into(program)
        return program


@dataclass(frozen=True)
class Evaluation:
    """Methods on one workload."""

    workload: Workload
    contenders: tuple[Contender, ...]

    def __post_init__(self) -> None:
        names = [contender.name for contender in self.contenders]
        for name in names:
            method_class(name)  # an unknown one is said before anything is loaded
        if len(set(names)) != len(names):
            raise InputError(f"a method is named twice in {', '.join(names)}")
        used = {_models_of(contender.settings) for contender in self.contenders}
        if len(used) > 1:
            raise InputError("the compiled methods want different models; run them one by one")

    @property
    def queries(self) -> tuple[Query, ...]:
        """The questions, which are all that a method is given."""
        return tuple(example.query for example in self.workload.examples)

    @property
    def references(self) -> tuple[Reference, ...]:
        """What they are scored against."""
        return tuple(example.reference for example in self.workload.examples)

    @property
    def shared(self) -> frozenset[str]:
        """Digests of the collections that several of the questions are about."""
        uses = Counter(query.collection.digest for query in self.queries)
        return frozenset(digest for digest, count in uses.items() if count > 1)

    def manifest(self) -> AnyManifest:
        """Write down everything that the records will depend on."""
        settings = self.contenders[0].settings
        return manifest_type(self.workload.split)(
            questions=question_set(self.workload),
            preset=settings.preset,
            methods=tuple(contender.entry() for contender in self.contenders),
            models=surroundings.models(settings),
            packages=surroundings.packages(),
            python=platform.python_version(),
            machine=surroundings.machine(),
            git=surroundings.git_state(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def question_set(workload: Workload) -> QuestionSet:
    """Name every question and source of a workload by its content."""
    queries = [example.query for example in workload.examples]
    collections = {query.collection.digest: query.collection for query in queries}
    references = reference_lines(example.reference for example in workload.examples)
    return QuestionSet(
        workload=workload.name,
        split=workload.split,
        files=hashes(workload.files),
        queries=tuple(
            QueryEntry(query_id=q.query_id, question=content_key(q.question)[:16], collection=q.collection.digest)
            for q in queries
        ),
        collections={
            digest: tuple(source.source_id for source in collection.each())
            for digest, collection in collections.items()
        },
        references=hashlib.sha256(references).hexdigest(),
    )


def hashes(files: Sequence[Path]) -> dict[str, str]:
    """Give the sha256 of files by their place below the folder that they have in common."""
    if not files:
        return {}
    paths = [path.resolve() for path in files]
    base = Path(os.path.commonpath([path.parent for path in paths]))
    return {path.relative_to(base).as_posix(): sha256_of(path) for path in paths}


def _models_of(settings: Settings) -> tuple[object, ...]:
    return (
        settings.reader,
        settings.auxiliary,
        settings.encoder.engine,
        settings.encoder.model,
        settings.cross_encoder,
    )
