"""`funnel`: where runs lose the evidence that answers need, from their folders alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from metrics.funnel import Funnel
from metrics.stages import RECALLS, Rule
from programs.atomic import replacing
from programs.commands.terminal import err, out, say
from programs.errors import InputError
from programs.json_file import faults
from programs.progress import report
from programs.report.bars import bars
from programs.report.funnel_tables import funnel_tables
from programs.report.runs import open_folders, warn_of_missing
from programs.report.table_formats import comma_separated, markdown
from programs.report.tables import Table
from programs.report.terminal_tables import print_table
from programs.runner.folder import RunFolder
from programs.runner.scoring import pairs

EVERY = 100
"""Records between two reports of progress."""


def funnel_runs(paths: Sequence[Path], methods: str | None, by: str, folder: Path | None) -> None:
    """Print the funnel of every method in the runs, and write it where a folder is named."""
    rule = check_rule(by)
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: not a folder; name another --out")
    with bars(err):
        funnels = load_funnels(paths, methods.split(",") if methods else None, rule)
    tables = funnel_tables(funnels)
    for table in tables:
        print_table(table, out)
    if folder is not None:
        written = [*write_pages(tables, folder), *write_picture(funnels, folder)]
        say(out, f"{folder}: {', '.join(path.name for path in written)}")


def check_rule(by: str) -> Rule:
    """Take one of the rules."""
    for rule in RECALLS:
        if rule == by:
            return rule
    raise InputError(f"--by is {' or '.join(RECALLS)}, not {by!r}")


def load_funnels(paths: Sequence[Path], methods: Sequence[str] | None, rule: Rule) -> list[Funnel]:
    """Count runs from their folders. A method that several runs have on a workload is named by its run too."""
    runs = open_folders(paths)
    check_methods(runs, methods)
    found = [(run, funnel) for run in runs for funnel in count(run, methods, rule)]
    known = [(run, funnel) for run, funnel in found if funnel.whole.queries]
    if not known:
        raise InputError(
            "no record has a reference that names its gold passages or sources; give runs of such a workload"
            if any(len(funnel) for _, funnel in found)
            else "these runs have no records yet; run `eval` on them with --resume"
        )
    uses = Counter((funnel.method, funnel.workload) for _, funnel in known)
    for run, funnel in known:
        if uses[funnel.method, funnel.workload] > 1:
            funnel.method = f"{run.name}/{funnel.method}"
    return [funnel for _, funnel in known]


def check_methods(runs: Sequence[RunFolder], methods: Sequence[str] | None) -> None:
    """Refuse a method that no run has."""
    names = list(dict.fromkeys(entry.name for run in runs for entry in run.manifest.methods))
    unknown = [name for name in methods or () if name not in names]
    if unknown:
        raise InputError(f"--method: no run has {', '.join(unknown)}; these runs have {', '.join(names)}")


def count(run: RunFolder, methods: Sequence[str] | None, rule: Rule) -> list[Funnel]:
    """Count a run's records in one pass, a funnel for each method in the manifest's order."""
    questions, entries = run.manifest.questions, run.manifest.methods
    funnels = {entry.name: Funnel(entry.name, questions.workload, rule) for entry in entries}
    silent = {entry.name for entry in entries if not entry.answers}
    total = len(questions.queries) * len(entries)
    for done, (record, reference) in enumerate(pairs(run)):
        if done % EVERY == 0:
            report(f"records of {run.name}", done, total)
        method = record.method
        if methods and method not in methods:
            continue
        try:
            unanswered = reference.model_copy(update={"answers": ()})
            funnels[method].add(record, unanswered if method in silent else reference)
        except ValueError as error:
            where = f"{run.path}: {method} on {record.query_id!r}"
            what = faults(error) if isinstance(error, ValidationError) else error
            raise InputError(f"{where}: {what}; the file was changed") from error
    report(f"records of {run.name}", total, total)
    counted = [funnel for name, funnel in funnels.items() if not methods or name in methods]
    warn_of_missing(run, {name: len(funnel) for name, funnel in funnels.items()}, methods)
    return counted


def write_pages(tables: Sequence[Table], folder: Path) -> list[Path]:
    """Write `funnel.md` and `funnel.csv`."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"funnel.md": "\n".join(map(markdown, tables)), "funnel.csv": comma_separated(tables)}
    for name, text in pages.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in pages]


def write_picture(funnels: Sequence[Funnel], folder: Path) -> list[Path]:
    """Draw the funnel; matplotlib is loaded for it."""
    from programs.report.component_figures import funnel_figure
    from programs.report.figure_style import save, style

    with style():
        return save(funnel_figure(funnels), folder, "funnel")
