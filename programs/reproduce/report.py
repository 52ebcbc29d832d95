"""The report of a reproduction, from the folders of its runs alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from metrics.record import QueryRecord
from metrics.scores import ScoreTable
from programs.atomic import replacing
from programs.errors import InputError
from programs.progress import counted
from programs.report.incompletes import incomplete_lines
from programs.report.names import STATERAG
from programs.report.results import Results
from programs.report.run_tables import all_tables
from programs.report.runs import warn_of_budgets
from programs.report.table_formats import write_tables
from programs.report.tables import COMPLETE, Table
from programs.reproduce.arm_tables import arm_table, named_by_arm
from programs.reproduce.findings import findings, findings_table, passing
from programs.reproduce.page import Account, first_page
from programs.reproduce.planned import PlannedRun, Questions, runs_of
from programs.reproduce.setup_tables import environment_table, role_table, settings_table, workload_table
from programs.reproduce.studies import STUDIES, Arm, PaperStudy
from programs.reproduce.trace import telling, trace_page
from programs.runner.folder import MANIFEST, SUMMARY, RunFolder
from programs.runner.scoring import score_tables

REPORT, PAGE, TRACE = "report", "README.md", "trace.md"


@dataclass
class Finished:
    """The runs of a folder that have come to their end, each scored once."""

    out: Path
    runs: Mapping[PlannedRun, RunFolder]

    def __post_init__(self) -> None:
        self._scored = {run: score_tables(folder) for run, folder in counted("runs", list(self.runs.items()))}

    @classmethod
    def of(cls, planned: Sequence[PlannedRun], out: Path) -> Finished:
        """Find those of the planned runs."""
        done = {run: run.folder(out) for run in planned}
        return cls(out, {run: RunFolder(path) for run, path in done.items() if (path / SUMMARY).is_file()})

    @property
    def plain(self) -> list[PlannedRun]:
        """The runs of methods as they are set."""
        return [run for run in self.runs if not run.arm.overrides]

    @property
    def has_answers(self) -> bool:
        """Tell whether a query of any run was completed."""
        return any((table.values["incomplete"] == 0).any() for table in self.scored(list(self.runs)))

    def scored(self, runs: Sequence[PlannedRun]) -> list[ScoreTable]:
        """Give the tables of some runs, as far as they have ended."""
        return [table for run in runs for table in self._scored.get(run, ())]

    def folders(self, method: str) -> list[RunFolder]:
        """Give the runs of a method as it is set."""
        return [self.runs[run] for run in self.plain if run.method == method]

    def records(self, method: str) -> Iterator[QueryRecord]:
        """Give their records."""
        return chain.from_iterable(folder.records() for folder in self.folders(method))


def write_report(done: Finished, planned: Sequence[PlannedRun], asked: Questions, left_out: Mapping[str, str]) -> Path:
    """Write tables, figures and the first page, and give the page. Runs of other parts that are there count too."""
    from programs.report.figures import write_figures  # loads matplotlib
    from programs.reproduce.differences_figure import write_differences

    scored = done.scored(done.plain)
    if not scored:
        raise InputError(f"{done.out}: no run has ended, so there is nothing to report; go on with --resume")
    folders = [done.runs[run] for run in done.plain]
    warn_of_budgets(folders)
    arms = {study: _by_arm(study, done, asked) for study in STUDIES if len(study.arms) > 1}
    found = findings([*scored, *chain.from_iterable(map(named_by_arm, arms.values()))])
    manifest = (done.folders(STATERAG) or folders)[0].manifest
    results, report = Results(scored), done.out / REPORT
    tables: list[Table | None] = [
        findings_table(found),
        *all_tables(results),
        *(arm_table(study, tables) for study, tables in arms.items()),
        workload_table(scored, {f.manifest.questions.workload: f.manifest.questions.split for f in folders}),
        settings_table(manifest),
        environment_table(manifest),
        role_table(done.records(STATERAG)),
    ]
    files = write_tables([table for table in tables if table is not None], report, COMPLETE)
    files += [*write_figures(results, report), *write_differences(scored, report), *_write_trace(done, report)]
    account = Account(
        manifest=manifest,
        scored=scored,
        findings=found,
        passing=passing(scored),
        incomplete=[line for run, folder in done.runs.items() for line in _incomplete(run, folder.records())],
        left_out=left_out,
        missing=[run.label for run in planned if run not in done.runs],
        files=[*files, *sorted(report.glob("funnel.*"))],
    )
    _write(done.out / PAGE, first_page(account))
    return done.out / PAGE


def has_begun(run: PlannedRun, out: Path) -> bool:
    """Tell whether a run's folder holds a run."""
    return (run.folder(out) / MANIFEST).exists()


def _by_arm(study: PaperStudy, done: Finished, questions: Questions) -> dict[Arm, list[ScoreTable]]:
    runs = runs_of(study, questions)
    return {arm: tables for arm in study.arms if (tables := done.scored([run for run in runs if _is_of(run, arm)]))}


def _is_of(run: PlannedRun, arm: Arm) -> bool:
    """Tell whether a run is of a study's way: one that changes no setting has the run that is as it is set."""
    return run.arm == arm if arm.overrides else not run.arm.overrides


def _incomplete(run: PlannedRun, records: Iterator[QueryRecord]) -> list[str]:
    way = f", {run.arm.label}" if run.arm.overrides else ""
    return [f"{run.workload}{way}: {line}" for line in incomplete_lines(records)]


def _write_trace(done: Finished, folder: Path) -> list[Path]:
    record = telling(done.records(STATERAG))
    if record is None:
        return []
    _write(folder / TRACE, trace_page(record))
    return [folder / TRACE]


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8", "replace"))
