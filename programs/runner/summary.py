"""The summary of a finished run: every metric of every method with its interval, and what did not go well."""

from __future__ import annotations

import math
from typing import Any

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from metrics.significance import intervals
from programs.runner.folder import RECORDS, REFERENCES, RunFolder
from programs.runner.scoring import score_tables

VERSION = 1


def summarise(run: RunFolder) -> dict[str, Any]:
    """Compute the summary from the folder alone."""
    questions = run.manifest.questions
    return {
        "version": VERSION,
        "manifest": run.manifest.digest,
        "kind": run.manifest.kind,
        "workload": questions.workload,
        "split": questions.split,
        "queries": len(questions.queries),
        "sha256": {name: run.sha256(name) for name in (REFERENCES, RECORDS)},
        "methods": {table.method: _method(table, len(questions.queries)) for table in score_tables(run)},
    }


def _method(table: ScoreTable, queries: int) -> dict[str, Any]:
    incomplete = int(table.values["incomplete"].sum())
    types = sorted({kind for kind in table.question_types if kind is not None})
    return {
        "records": len(table),
        "missing": queries - len(table),
        "completed": len(table) - incomplete,
        "incomplete": incomplete,
        "rejections": dict(sorted(table.rejections_by_reason().items())),
        "hit_rate": _known(table.hit_rate()),
        "metrics": _metrics(table),
        "by_question_type": {kind: _means(table.only(kind)) for kind in types},
    }


def _metrics(table: ScoreTable) -> dict[str, Any]:
    columns = {name: table.values[name] for name in table.defined}
    found = intervals(columns, table.clusters)
    return {
        name: {"label": METRICS[name].label, "mean": i.mean, "low": _known(i.low), "high": _known(i.high), "n": i.n}
        for name, i in found.items()
    }


def _known(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


def _means(table: ScoreTable) -> dict[str, float]:
    quality = [name for name in table.defined if METRICS[name].group in ("answer", "evidence")]
    return {"n": len(table)} | {name: table.mean(name) for name in quality}
