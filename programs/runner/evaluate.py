"""A whole run: open its folder, run every method's queries, and summarise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from programs.models.journal import Journal, JournaledBackend
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.runner.evaluation import Evaluation
from programs.runner.execute import Execution, Listener
from programs.runner.folder import OpenRun
from programs.runner.summary import summarise
from programs.workloads.manifest import AnyManifest


def journaled(runtime: Runtime, journal: Journal) -> Runtime:
    """Have a runtime's calls written down."""
    auxiliary = LanguageModel(JournaledBackend(runtime.auxiliary.backend, journal))
    same = runtime.reader is runtime.auxiliary
    reader = auxiliary if same else LanguageModel(JournaledBackend(runtime.reader.backend, journal))
    return replace(runtime, auxiliary=auxiliary, reader=reader)


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
        for contender in evaluation.contenders:
            place = out / "methods" / contender.name
            done = execution.take_up(contender.name)
            journal = Journal(place / "journal.jsonl", done)
            method = contender.open(journaled(runtime, journal), evaluation.workload.name, place, evaluation.shared)
            try:
                execution.run(method, evaluation.queries, frozenset(done.values()))
            finally:
                method.close()
                journal.close()
        summary = summarise(folder)
        folder.finish(summary)
    return summary
