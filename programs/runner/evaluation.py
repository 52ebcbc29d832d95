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

from programs.errors import InputError
from programs.keys import content_key
from programs.methods.compiled import Compiled
from programs.methods.contender import Contender
from programs.methods.registry import method_class
from programs.methods.selection import Selection, check_locked
from programs.models.entry import model_entries
from programs.models.verified import sha256_of
from programs.runner import surroundings
from programs.runner.folder import reference_lines
from programs.settings import Settings
from programs.workloads.manifest import AnyManifest, MethodEntry, QueryEntry, QuestionSet, manifest_type
from programs.workloads.query import Query, Reference
from programs.workloads.registry import Workload


@dataclass(frozen=True)
class Evaluation:
    """Methods on one workload. On an eval split, compiled ones are of a locked selection that has not seen it (I11)."""

    workload: Workload
    contenders: tuple[Contender, ...]
    selection: Selection | None = None

    def __post_init__(self) -> None:
        names = [contender.name for contender in self.contenders]
        for name in names:
            method_class(name)  # an unknown one is said before anything is loaded
        if len(set(names)) != len(names):
            raise InputError(f"a method is named twice in {', '.join(names)}")
        used = {_models_of(contender.settings) for contender in self.contenders}
        if len(used) > 1:
            raise InputError("the compiled methods want different models; run them one by one")
        budgets = {contender.name: contender.settings.lifecycle.reader_budget for contender in self.contenders}
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
        return {item.name: item.compiled for item in self.contenders if item.compiled is not None}

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
            methods=tuple(method_entry(contender) for contender in self.contenders),
            models=model_entries(settings),
            selection=self.selection.entry() if self.selection and self.compiled else None,
            packages=surroundings.packages(),
            python=platform.python_version(),
            machine=surroundings.machine(),
            git=surroundings.git_state(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )


def method_entry(contender: Contender) -> MethodEntry:
    """Give a method's place in the manifest."""
    return MethodEntry(
        name=contender.name,
        settings=contender.settings.model_dump(mode="json"),
        settings_digest=contender.settings.digest,
        compiled=contender.compiled.digest if contender.compiled else None,
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
