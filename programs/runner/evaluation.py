"""An evaluation before it runs: which methods, with which settings, on which questions, and the manifest of it all."""

from __future__ import annotations

import hashlib
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from programs.content_key import content_key
from programs.errors import InputError
from programs.methods.registry import spec
from programs.models.identity import model_identities
from programs.models.weights.verified import sha256_of
from programs.runner import environment
from programs.runner.folder import reference_lines
from programs.selection.compiled import Compiled
from programs.selection.configured import ConfiguredMethod
from programs.selection.leakage import LockedSelection, check_locked
from programs.settings import Settings
from programs.workloads.manifest import AnyManifest, MethodEntry, QueryEntry, QuestionSet, manifest_type
from programs.workloads.query import Query, Reference
from programs.workloads.registry import Workload


@dataclass(frozen=True)
class Evaluation:
    """Methods on one workload. On an eval split, compiled ones are of a locked selection that has not seen it."""

    workload: Workload
    methods: tuple[ConfiguredMethod, ...]
    selection: LockedSelection | None = None

    def __post_init__(self) -> None:
        names = [configured.name for configured in self.methods]
        for name in names:
            spec(name).load()  # an unknown one is said before anything is loaded
        if len(set(names)) != len(names):
            raise InputError(f"a method is named twice in {', '.join(names)}")
        used = {_models_of(configured.settings) for configured in self.methods}
        if len(used) > 1:
            raise InputError("the compiled methods want different models; run them one by one")
        budgets = {configured.name: configured.settings.lifecycle.reader_budget for configured in self.methods}
        if len(set(budgets.values())) > 1:
            told = ", ".join(f"{name} {budget}" for name, budget in budgets.items())
            raise InputError(
                f"the methods would read different amounts of evidence ({told} tokens), which is no comparison; "
                f"give all of them one budget: --set lifecycle.reader_budget={min(budgets.values())}"
            )
        if self.workload.split == "eval":
            check_locked(self.compiled, self.selection, self.queries)

    @property
    def compiled(self) -> dict[str, Compiled]:
        """The compiled programs that run, by method."""
        return {item.name: item.compiled for item in self.methods if item.compiled is not None}

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
        settings, split = self.methods[0].settings, self.workload.split
        if split == "train":
            raise InputError(
                f"{self.workload.name}: training questions are for fitting, and nothing is measured on them"
            )
        return manifest_type(split)(
            questions=question_set(self.workload),
            preset=settings.preset,
            methods=tuple(method_entry(configured) for configured in self.methods),
            models=model_identities(settings),
            selection=self.selection.entry() if self.selection and self.compiled else None,
            packages=environment.packages(),
            python=platform.python_version(),
            machine=environment.machine(),
            git=environment.git_state(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def method_entry(configured: ConfiguredMethod) -> MethodEntry:
    """Give a method's place in the manifest."""
    return MethodEntry(
        name=configured.name,
        settings=configured.settings.model_dump(mode="json"),
        settings_digest=configured.settings.digest,
        compiled=configured.compiled.digest if configured.compiled else None,
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
