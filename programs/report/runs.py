"""The runs that a report or a comparison is made of, with a name for each system in them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from metrics.scores import ScoreTable
from programs.errors import InputError
from programs.progress import report
from programs.runner.folder import RunFolder
from programs.runner.scoring import score_tables


class Unfinished(UserWarning):
    """A run that lacks records; its means are over the queries that it has."""


def load_runs(paths: Sequence[Path]) -> list[ScoreTable]:
    """Score runs from their folders alone. A method that several runs have on a workload is named by its run too."""
    folders = open_folders(paths)
    kinds = {folder.manifest.kind for folder in folders}
    if len(kinds) > 1:
        warnings.warn("development runs and locked ones are shown together", stacklevel=2)
    warn_of_budgets(folders)
    tables: list[tuple[RunFolder, ScoreTable]] = []
    for done, folder in enumerate(folders):
        report("runs", done, len(folders))
        tables += [(folder, table) for table in score_tables(folder)]
        warn_of_missing(folder, {table.method: len(table) for run, table in tables if run is folder})
    report("runs", len(folders), len(folders))
    if not tables:
        raise InputError("these runs have no records yet; run `eval` on them with --resume")
    uses = Counter((table.method, table.workload) for _, table in tables)
    return [
        table if uses[table.method, table.workload] == 1 else replace(table, method=f"{folder.name}/{table.method}")
        for folder, table in tables
    ]


def warn_of_budgets(folders: Sequence[RunFolder]) -> None:
    """Say where methods of different runs had different evidence budgets; within one run they can't."""
    budgets: dict[int | None, str] = {}
    for folder in folders:
        budgets.setdefault(folder.manifest.methods[0].reader_budget, folder.name)
    if len(budgets) > 1:
        told = ", ".join(f"{name} {budget}" for budget, name in budgets.items())
        warnings.warn(f"the runs have different evidence budgets in tokens: {told}", stacklevel=3)


def open_folders(paths: Sequence[Path]) -> list[RunFolder]:
    """Open runs' folders, each once."""
    folders = [RunFolder(path) for path in paths]
    if len({folder.path.resolve() for folder in folders}) < len(folders):
        raise InputError("a run is named twice; name each once")
    return folders


def check_comparable(paths: Sequence[Path]) -> None:
    """Refuse to pair queries of runs that did not have the same questions over the same sources."""
    first: dict[str, RunFolder] = {}
    for folder in map(RunFolder, paths):
        questions = folder.manifest.questions
        other = first.setdefault(questions.workload, folder)
        if other.manifest.questions.digest != questions.digest:
            raise InputError(
                f"{other.path} and {folder.path} are both of {questions.workload}, but not of the same questions, "
                "sources and references; compare runs that were made with the same --data, --split and --limit"
            )


def warn_of_missing(folder: RunFolder, records: Mapping[str, int], methods: Sequence[str] | None = None) -> None:
    """Say where a run has not ended, of all its methods or of some."""
    queries = len(folder.manifest.questions.queries)
    for entry in folder.manifest.methods:
        have = records.get(entry.name, 0)
        if have < queries and (not methods or entry.name in methods):
            message = f"{folder.path}: {entry.name} has {have} of {queries} records; go on with `eval --resume`"
            warnings.warn(message, Unfinished, stacklevel=3)
