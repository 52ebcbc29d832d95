"""Experiment tracking of a search, for those who ask for it: every trial is a step of one run, offline by default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from optimize.search_page import value_text
from programs.errors import InputError
from programs.report.wandb_run import WandbRun

TRIAL_COLUMNS = ("number", "state", "quality", "cost", "queries", "seconds", "chosen")


class SearchTracker(Protocol):
    """What a search tells of itself while it runs."""

    def begin(self, search: Mapping[str, Any]) -> None:
        """Say what is going to be searched, as search.json does."""

    def trial(self, line: Mapping[str, Any]) -> None:
        """Tell of a trial that is done, as its line of trials.jsonl does. One that is chosen later comes again."""

    def finish(self, paths: Sequence[Path]) -> None:
        """Tell of the end, and hand over what was written."""


class NoSearchTracker:
    """Tells nobody."""

    def begin(self, search: Mapping[str, Any]) -> None:
        """Do nothing."""

    def trial(self, line: Mapping[str, Any]) -> None:
        """Do nothing."""

    def finish(self, paths: Sequence[Path]) -> None:
        """Do nothing."""


class WandbSearch:
    """Tells Weights & Biases. The search's space is the run's config, and so are the parameters chosen in the end."""

    def __init__(self, folder: Path, name: str | None = None) -> None:
        self._run = WandbRun(folder, name=name)
        self._trials: dict[int, Mapping[str, Any]] = {}
        self._best: float | None = None

    def begin(self, search: Mapping[str, Any]) -> None:
        """Open a W&B run."""
        self._run.open(search)

    def trial(self, line: Mapping[str, Any]) -> None:
        """Log a new trial's objectives and parameters at its step."""
        new = line["number"] not in self._trials
        self._trials[line["number"]] = line
        if new:
            self._run.log(self._step(line), step=len(self._trials))

    def finish(self, paths: Sequence[Path]) -> None:
        """Log the table of trials, what was chosen, PNG files as images, and all files as an artifact."""
        trials = list(self._trials.values())
        keys = list(dict.fromkeys(key for trial in trials for key in trial["parameters"]))
        chosen = next((trial for trial in trials if trial["chosen"]), None)
        if chosen is not None:
            self._run.run.config.update({"chosen": dict(chosen["parameters"])})  # type: ignore[no-untyped-call]
        told = {"chosen": chosen["number"], "quality": chosen["quality"], "cost": chosen["cost"]} if chosen else {}
        rows = [[*(trial[name] for name in TRIAL_COLUMNS), *_cells(trial, keys)] for trial in trials]
        self._run.close("trials", [*TRIAL_COLUMNS, *keys], rows, told, paths)

    def _step(self, trial: Mapping[str, Any]) -> dict[str, Any]:
        if trial["state"] == "complete" and trial["quality"] is not None:
            self._best = max(trial["quality"], trial["quality"] if self._best is None else self._best)
        measured = {"quality": trial["quality"], "cost": trial["cost"], "seconds": trial["seconds"], "best": self._best}
        for workload, found in trial["by_workload"].items():
            measured |= {f"{workload}/quality": found["quality"], f"{workload}/cost": found["cost"]}
        step: dict[str, Any] = {name: value for name, value in measured.items() if value is not None}
        step |= {"trial": trial["number"], "state": trial["state"]}
        return step | {f"parameters/{key}": _plain(value) for key, value in trial["parameters"].items()}


def open_search_tracker(kind: str | None, folder: Path, name: str | None = None) -> SearchTracker:
    """Make the tracker that was asked for; without a name the run is called what its folder is called."""
    if kind is None:
        return NoSearchTracker()
    if kind == "wandb":
        return WandbSearch(folder, name)
    raise InputError(f"no tracker is called {kind!r}; there is wandb")


def _cells(trial: Mapping[str, Any], keys: Sequence[str]) -> list[Any]:
    return [_plain(trial["parameters"][key]) if key in trial["parameters"] else None for key in keys]


def _plain(value: Any) -> float | str:
    """Give numbers as numbers, and everything else as the text that settings have for it."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else value_text(value)
