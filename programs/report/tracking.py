"""Experiment tracking, for those who ask for it: a run's settings, running means, queries, figures and files.

How Weights & Biases is kept quiet, offline and inside the run's folder is in `wandb_run`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from metrics.metric import METRICS
from metrics.record import QueryRecord
from programs.errors import InputError
from programs.report.wandb_run import PROJECT, WandbRun

SHOWN_QUERIES = 10_000
"""Rows that W&B shows of a table. The artifact has every record."""
QUERY_COLUMNS = ("method", "query_id", "question", "answer", "status", "action")
LONG_PARTS = ("queries", "collections")
"""What makes a manifest long. The artifact has it whole."""


class Tracker(Protocol):
    """What a run tells of itself while it runs."""

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Say what is going to run."""

    def query(self, record: QueryRecord, scores: Mapping[str, float]) -> None:
        """Tell of one query that is done."""

    def finish(self, summary: Mapping[str, Any], figures: Sequence[Path], files: Sequence[Path]) -> None:
        """Tell of the end, and hand over what was made."""


class NoTracker:
    """Tells nobody."""

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Do nothing."""

    def query(self, record: QueryRecord, scores: Mapping[str, float]) -> None:
        """Do nothing."""

    def finish(self, summary: Mapping[str, Any], figures: Sequence[Path], files: Sequence[Path]) -> None:
        """Do nothing."""


class RunningMeans:
    """The mean of each metric over a method's queries so far."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], float] = defaultdict(float)
        self._counts: dict[tuple[str, str], int] = defaultdict(int)

    def add(self, method: str, scores: Mapping[str, float]) -> dict[str, float]:
        """Take a query in, and give the means of its metrics, each under method/metric."""
        means = {}
        for metric, value in scores.items():
            key = (method, metric)
            self._sums[key] += value
            self._counts[key] += 1
            means[f"{method}/{metric}"] = self._sums[key] / self._counts[key]
        return means


class WandbTracker:
    """Tells Weights & Biases. A run of several methods is one W&B run, with a group of curves for each method."""

    def __init__(self, project: str, folder: Path, name: str) -> None:
        self._run = WandbRun(folder, project, name)
        self._means = RunningMeans()
        self._rows: list[list[Any]] = []
        self._queries = 0

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Open a W&B run whose config is the manifest without its lists of queries."""
        self._run.open(_short(manifest))

    def query(self, record: QueryRecord, scores: Mapping[str, float]) -> None:
        """Log the running means at this query's number, and keep its row of the table."""
        self._queries += 1
        self._run.log(self._means.add(record.method, scores), step=self._queries)
        if len(self._rows) < SHOWN_QUERIES:
            about = [getattr(record, column) or "" for column in QUERY_COLUMNS]
            self._rows.append([*about, *(scores.get(metric) for metric in METRICS)])

    def finish(self, summary: Mapping[str, Any], figures: Sequence[Path], files: Sequence[Path]) -> None:
        """Log the table of queries, the summary, PNG figures as images, and everything as an artifact."""
        self._run.close("queries", [*QUERY_COLUMNS, *METRICS], self._rows, summary, [*files, *figures])


def open_tracker(kind: str | None, folder: Path, *, project: str = PROJECT, name: str | None = None) -> Tracker:
    """Make the tracker that was asked for; without a name the run is called what its folder is called."""
    if kind is None:
        return NoTracker()
    if kind == "wandb":
        return WandbTracker(project, folder, name or folder.resolve().name)
    raise InputError(f"no tracker is called {kind!r}; there is wandb")


def _short(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(manifest)
    if isinstance(config.get("questions"), Mapping):
        questions = config["questions"]
        config["questions"] = {key: value for key, value in questions.items() if key not in LONG_PARTS}
        config["questions"] |= {key: len(questions[key]) for key in LONG_PARTS if key in questions}
    return config
