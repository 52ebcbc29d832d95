"""Freeze a selection before it is evaluated: `python -m optimize.lock DIR`.

An eval split takes compiled programs from a lock alone, and only on questions that none of them was chosen on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from programs.commands.terminal import err, out, plain_errors
from programs.selection.compiled import CompiledFile
from programs.selection.lock import LOCK, Lock, freeze, read_programs, write_lock

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def lock(
    folder: Annotated[Path, typer.Argument(help="the folder of compiled programs, one a method")],
    unequal: Annotated[bool, typer.Option("--unequal", help="allow different trials or questions")] = False,
) -> None:
    """Lock the compiled programs of a folder, which were chosen alike and on the same questions unless told."""
    with plain_errors():
        programs = read_programs(folder)
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


def lock_table(frozen: Lock, programs: dict[str, CompiledFile]) -> Table:
    """Show what was locked."""
    title = f"{frozen.preset}, chosen on {len(frozen.seen.questions)} questions"
    table = Table("method", "chosen by", "trials", "questions", "parameters", "prompts", "sha256", title=title)
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


if __name__ == "__main__":
    app()
