"""A whole run: open its folder, run every method's queries, and summarise."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from programs.methods.indexes import Indexes
from programs.models.cache.journal import Journal, JournaledEngine
from programs.models.runtime import Runtime
from programs.runner.evaluation import Evaluation
from programs.runner.execute import Execution, Listener
from programs.runner.folder import OpenRun
from programs.runner.summary import summarise
from programs.workloads.manifest import AnyManifest


def evaluate(
    evaluation: Evaluation,
    manifest: AnyManifest,
    runtime: Runtime,
    out: Path,
    *,
    resume: bool = False,
    workers: int = 1,
    stop_after: int = 5,
    listener: Listener = lambda method, done, total, record: None,
) -> dict[str, Any]:
    """Run what has no record yet, and write and give the summary."""
    with OpenRun.open(out, manifest, evaluation.references, resume) as folder:
        execution = Execution(folder, workers, stop_after, listener)
        for configured in evaluation.methods:
            place = out / "methods" / configured.name
            done = execution.take_up(configured.name)
            journal = Journal(place / "journal.jsonl", done)
            written = runtime.behind(partial(JournaledEngine, journal=journal))
            indexes = Indexes(place / "indexes", evaluation.shared)
            method = configured.open(written, evaluation.workload.name, indexes, place / "memory.sqlite")
            try:
                execution.run(method, evaluation.queries, frozenset(done.values()))
            finally:
                method.close()
                journal.close()
        summary = summarise(folder)
        folder.finish(summary)
    return summary
