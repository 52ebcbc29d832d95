"""Experiment tracking, for those who ask for it: a run's settings, running means, queries, figures and files.

Weights & Biases writes into the run's own folder and stays offline unless WANDB_MODE says otherwise. Nobody is asked
to log in. Texts of documents and models are cells of a table, never markup.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from metrics.metric import METRICS
from programs.errors import InputError

if TYPE_CHECKING:
    from wandb import Run

PROJECT = "staterag"
SHOWN_QUERIES = 10_000
"""Rows that W&B shows of a table. The artifact has every record."""
ONLINE = ("online", "run", "shared")
OFFLINE = ("offline", "dryrun", "disabled")
QUERY_COLUMNS = ("method", "query_id", "question", "answer", "status", "action")
LONG_PARTS = ("queries", "collections")
"""What makes a manifest long. The artifact has it whole."""


class Tracker(Protocol):
    """What a run tells of itself while it runs."""

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Say what is going to run."""

    def query(self, record: Mapping[str, Any], scores: Mapping[str, float]) -> None:
        """Tell of one query that is done."""

    def finish(self, summary: Mapping[str, Any], figures: Sequence[Path], files: Sequence[Path]) -> None:
        """Tell of the end, and hand over what was made."""


class NoTracker:
    """Tells nobody."""

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Do nothing."""

    def query(self, record: Mapping[str, Any], scores: Mapping[str, float]) -> None:
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
        self._wandb = _import_wandb()
        self._project = project
        self._folder = folder
        self._name = name
        self._contained = ExitStack()
        self._run: Run | None = None
        self._means = RunningMeans()
        self._rows: list[list[Any]] = []
        self._queries = 0

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Open a W&B run whose config is the manifest without its lists of queries."""
        mode = os.environ.get("WANDB_MODE") or "offline"
        if mode not in ONLINE + OFFLINE:
            raise InputError(f"WANDB_MODE is {mode!r}; W&B knows {', '.join(ONLINE + OFFLINE)}")
        with ExitStack() as until_finished:
            until_finished.enter_context(_kept_within(self._folder))
            self._run = self._start(mode, _short(manifest))
            self._contained = until_finished.pop_all()

    def query(self, record: Mapping[str, Any], scores: Mapping[str, float]) -> None:
        """Log the running means at this query's number, and keep its row of the table."""
        self._queries += 1
        self._open_run().log(self._means.add(record["method"], scores), step=self._queries)
        if len(self._rows) < SHOWN_QUERIES:
            about = [record.get(column) or "" for column in QUERY_COLUMNS]
            self._rows.append([*about, *(scores.get(metric) for metric in METRICS)])

    def finish(self, summary: Mapping[str, Any], figures: Sequence[Path], files: Sequence[Path]) -> None:
        """Log the table of queries, the summary, PNG figures as images, and everything as an artifact."""
        run = self._open_run()
        columns = [*QUERY_COLUMNS, *METRICS]
        table = self._wandb.Table(columns=columns, data=self._rows, allow_mixed_types=True)
        images = {f"figures/{path.stem}": self._wandb.Image(str(path)) for path in figures if path.suffix == ".png"}
        run.log({"queries": table, **images})
        run.summary.update(dict(summary))
        artifact = self._wandb.Artifact(f"run-{run.id}", type="evaluation")
        for path in (*files, *figures):
            artifact.add_file(str(path))
        run.log_artifact(artifact)
        run.finish()
        self._wandb.teardown()  # what is still in W&B's own process is on the disk after this
        self._run = None
        self._contained.close()

    def _start(self, mode: str, config: dict[str, Any]) -> Run:
        try:
            if mode in ONLINE and not self._wandb.login(prompt=False):
                raise InputError(f"WANDB_MODE is {mode}, but W&B has no key; run `wandb login`, or unset WANDB_MODE")
            run: Run = self._wandb.init(
                project=self._project,
                name=self._name,
                dir=str(self._folder),
                mode=mode,
                config=config,
                settings=_silent(self._wandb),
            )
        except self._wandb.errors.Error as error:
            raise InputError(f"W&B did not start: {error}; leave tracking out, or mend WANDB_MODE") from error
        return run

    def _open_run(self) -> Run:
        if self._run is None:
            raise RuntimeError("the tracker was not begun, or is finished")
        return self._run


def open_tracker(kind: str | None, folder: Path, *, project: str = PROJECT, name: str | None = None) -> Tracker:
    """Make the tracker that was asked for; without a name the run is called what its folder is called."""
    if kind is None:
        return NoTracker()
    if kind == "wandb":
        return WandbTracker(project, folder, name or folder.resolve().name)
    raise InputError(f"no tracker is called {kind!r}; there is wandb")


def _import_wandb() -> ModuleType:
    try:
        import wandb
    except ImportError as error:
        raise InputError("tracking needs W&B, which is not installed; pip install 'staterag[tracking]'") from error
    return wandb


def _silent(wandb: ModuleType) -> Any:
    """Let W&B print nothing, since bars are on the screen, and note nothing of the machine: the manifest does."""
    return wandb.Settings(
        silent=True,
        console="off",
        disable_code=True,
        disable_git=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
    )


@contextmanager
def _kept_within(folder: Path) -> Iterator[None]:
    """Point W&B's caches into the run's folder and keep it quiet, unless the user has said otherwise.

    Only variables can say so: its settings do not reach the parts that print before a run is open.
    """
    places = {f"WANDB_{what}_DIR": folder / "wandb" / what.lower() for what in ("CACHE", "DATA", "ARTIFACT")}
    wanted = {name: str(place.resolve()) for name, place in places.items()}
    wanted |= {"WANDB_SILENT": "true", "WANDB_DISABLE_WEAVE": "true"}
    ours = {name: value for name, value in wanted.items() if name not in os.environ}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made ({error.strerror}); name another") from error
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)


def _short(manifest: Mapping[str, Any]) -> dict[str, Any]:
    config = dict(manifest)
    if isinstance(config.get("questions"), Mapping):
        questions = config["questions"]
        config["questions"] = {key: value for key, value in questions.items() if key not in LONG_PARTS}
        config["questions"] |= {key: len(questions[key]) for key in LONG_PARTS if key in questions}
    return config
