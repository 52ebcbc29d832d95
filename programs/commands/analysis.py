"""`compare` and `report`: what runs say, from their folders alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from programs.commands.terminal import err, out, say
from programs.errors import InputError
from programs.report.bars import bars
from programs.report.comparison import compare, comparison_table
from programs.report.page import asked_table, write_into
from programs.report.results import Results
from programs.report.run_tables import all_tables
from programs.report.runs import check_comparable, load_runs
from programs.report.table_formats import write_tables
from programs.report.tables import INTERVALS
from programs.report.terminal_tables import print_table


def compare_runs(paths: Sequence[Path], reference: str | None, metrics: Sequence[str] | None) -> None:
    """Print paired comparisons of every system with one of them."""
    check_comparable(paths)
    with bars(err):
        tables = load_runs(paths)
    print_table(comparison_table(compare(tables, reference=reference, metrics=metrics or None)), out, INTERVALS)


def report_into(paths: Sequence[Path], page: Path, name: str) -> None:
    """Write one table of the runs into a page."""
    with bars(err):
        scored = load_runs(paths)
    write_into(page, name, partial(asked_table, scored, name))
    say(out, f"{page}: the table {name}")


def report_runs(paths: Sequence[Path], folder: Path) -> None:
    """Write tables and figures, and print the tables of the paper that the runs have data for."""
    from programs.report.figures import write_figures  # loads matplotlib

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: not a folder; name another --out")
    with bars(err):
        results = Results(load_runs(paths))
    tables = all_tables(results)
    for table in tables:
        print_table(table, out)
    written = [*write_tables(tables, folder), *write_figures(results, folder)]
    say(out, f"{folder}: {', '.join(path.name for path in written)}")
