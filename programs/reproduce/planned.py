"""The runs that studies come to: each once, in a folder of its own, with as many questions as its method may have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from programs.errors import InputError
from programs.methods.registry import spec
from programs.reproduce.studies import COSTLY, SAMPLE, Arm, PaperStudy
from programs.workloads.registry import Split, Workload, open_workload

RUNS = "runs"
"""The folder of the runs, in that of a reproduction."""


@dataclass(frozen=True)
class PlannedRun:
    """One method on one workload in one way. A way that changes no setting is nameless: many studies share its run."""

    workload: str
    method: str
    arm: Arm

    def folder(self, out: Path) -> Path:
        """Give the run's folder."""
        way = re.sub(r"\W+", "-", self.arm.label).strip("-")
        return out / RUNS / self.workload.replace("/", "-") / ".".join(filter(None, (self.method, way)))

    @property
    def label(self) -> str:
        """Call it in a line."""
        return f"{self.workload} {self.method}" + (f" ({self.arm.label})" if self.arm.label else "")


@dataclass
class Questions:
    """The workloads of a reproduction, each read once; without data, the sample in the place of all of them."""

    data: Path | None
    split: Split
    limit: int | None = None
    costly_limit: int | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    """Workloads that can't be had, and why."""
    _opened: dict[tuple[str, int | None], Workload] = field(default_factory=dict)

    def names(self, study: PaperStudy) -> tuple[str, ...]:
        """Name the workloads of a study that can be had."""
        return tuple(name for name in (study.workloads if self.data else (SAMPLE,)) if self._has(name))

    def of(self, workload: str, method: str) -> Workload:
        """Give the questions that a method has."""
        limit = self.limit if method not in COSTLY or self.costly_limit is None else self.costly_limit
        key = (workload, limit)
        if key not in self._opened:
            self._opened[key] = open_workload(workload, self.data, self.split, limit=limit)
        return self._opened[key]

    def _has(self, name: str) -> bool:
        """Tell whether a workload's files are there. What is wrong with a limit is wrong with all, and is raised."""
        if self.limit is not None and self.limit < 1:
            raise InputError(f"a limit of {self.limit} leaves no question; give 1 or more, or none for all")
        if name not in self.left_out:
            try:
                self.of(name, "")
            except InputError as error:
                self.left_out[name] = str(error)
        return name not in self.left_out


def planned_runs(studies: Iterable[PaperStudy], questions: Questions) -> list[PlannedRun]:
    """Give every run of some studies once, in the order in which they are first wanted."""
    runs = list(dict.fromkeys(run for study in studies for run in runs_of(study, questions)))
    if not runs:
        why = "; ".join(questions.left_out.values())
        raise InputError(f"there is nothing to run: {why or 'no study has a workload'}")
    return runs


def runs_of(study: PaperStudy, questions: Questions) -> list[PlannedRun]:
    """Give the runs of one study, by workload."""
    return [
        PlannedRun(workload, method, arm if arm.overrides else Arm())
        for workload in questions.names(study)
        for method in study.methods
        for arm in study.arms
        if len(questions.of(workload, method).examples) > arm.beyond
    ]


def without_libraries(methods: Sequence[str]) -> dict[str, str]:
    """Name the methods whose libraries are not installed, with how to get them."""
    missing = {}
    for method in dict.fromkeys(methods):
        try:
            spec(method).load()
        except InputError as error:
            missing[method] = str(error)
    return missing
