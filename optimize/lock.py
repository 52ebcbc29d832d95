"""Freeze a selection before it is evaluated: `python -m optimize.lock DIR`.

An eval split takes compiled programs from a lock alone, and only on questions that none of them was chosen on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as Grid
from rich.text import Text

from metrics.metric import METRICS
from optimize.measure import MACRO
from programs.commands.terminal import err, out, plain_errors
from programs.report.names import METHODS, in_order, is_staterag, method_label
from programs.report.page import metrics_asked, write_into
from programs.report.tables import Cell, Column, Table, TableRow
from programs.selection.compiled import Compiled, CompiledFile, MeasuredMean
from programs.selection.lock import LOCK, Lock, freeze, read_programs, write_lock

CHOSEN = "chosen"
"""The name of the table of what programs scored when they were chosen."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def lock(
    folder: Annotated[Path, typer.Argument(help="the folder of compiled programs, one a method")],
    unequal: Annotated[bool, typer.Option("--unequal", help="allow different trials or questions")] = False,
    into: Annotated[
        Path | None, typer.Option(help="lock nothing; write how they scored between the marks of `chosen` in this page")
    ] = None,
) -> None:
    """Lock the compiled programs of a folder, which were chosen alike and on the same questions unless told."""
    with plain_errors():
        programs = read_programs(folder)
        if into is not None:
            write_into(into, CHOSEN, partial(chosen_table, [file.compiled for file in programs.values()]))
            out.print(Text(f"{into}: the table {CHOSEN}"), soft_wrap=True)
            return
        frozen = lock_folder(folder, programs, unequal)
        out.print(lock_table(frozen, programs))
        out.print(Text(f"{folder / LOCK}: {frozen.digest}"), soft_wrap=True)


def lock_folder(folder: Path, programs: dict[str, CompiledFile], unequal: bool = False) -> Lock:
    """Write the lock of these programs, and say so where that replaces another."""
    frozen = freeze(folder, programs, unequal)
    path = folder / LOCK
    before = path.read_bytes() if path.is_file() else None
    write_lock(folder, frozen)
    if before is not None and path.read_bytes() != before:
        err.print(Text(f"{path}: replaces another lock; runs that name that one can't go on with this"), soft_wrap=True)
    return frozen


def lock_table(frozen: Lock, programs: dict[str, CompiledFile]) -> Grid:
    """Show what was locked."""
    title = f"{frozen.preset}, chosen on {len(frozen.seen.questions)} questions"
    table = Grid("method", "chosen by", "trials", "questions", "parameters", "prompts", "sha256", title=title)
    for name, (compiled, _) in programs.items():
        assert compiled.choice is not None  # freeze takes no other
        counts = (
            frozen.budgets[compiled.method],
            frozen.questions[compiled.method],
            len(compiled.parameters),
            len(compiled.prompts),
        )
        table.add_row(Text(compiled.method), Text(compiled.choice.by), *map(str, counts), frozen.files[name][:16])
    return table


def chosen_table(programs: Sequence[Compiled], asked: str) -> Table:
    """Tabulate what programs scored on the questions that chose them: the metrics asked for, and the first before."""
    metrics = metrics_asked(CHOSEN, asked)
    columns = [
        Column(metric, METRICS[metric].label, 0 if METRICS[metric].kind == "amount" else 3) for metric in metrics
    ]
    columns.insert(1, Column("before", "… where it started", 3))
    rows = [
        TableRow(
            method_label(program.method),
            (
                _cell(program.choice.scores, metrics[0]),
                _cell(program.choice.baseline, metrics[0]),
                *(_cell(program.choice.scores, metric) for metric in metrics[1:]),
            ),
            emphasised=is_staterag(program.method),
        )
        for program in sorted(programs, key=lambda one: in_order(METHODS).index(one.method))
        if program.choice is not None
    ]
    return Table(CHOSEN, "On the development questions that chose", tuple(columns), tuple(rows))


def _cell(scores: Mapping[str, Mapping[str, MeasuredMean]], metric: str) -> Cell:
    found = scores.get(MACRO, {}).get(metric)
    if found is None:
        return Cell()
    low, high = (math.nan if bound is None else bound for bound in (found.low, found.high))
    return Cell(found.mean, low, high, found.n)


if __name__ == "__main__":
    app()
