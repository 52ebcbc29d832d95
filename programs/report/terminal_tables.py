"""Tables on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from programs.report.console import snippet, visible
from programs.report.tables import VALUES, Layout, Table, TextRow, blocks, caption, footnotes

WIDEST = 400
STYLES = {"": "", "best": "bold green", "second": "underline"}


def print_table(table: Table, console: Console, layout: Layout = VALUES) -> None:
    """Print a table and its notes."""
    print_whole(grid(table, layout), console)
    for note in footnotes(table, layout):
        console.print(Text(visible(note), style="dim"))
    console.print()


def print_whole(shown: Grid, console: Console) -> None:
    """Print a grid that may be wider than the console, as it is in a pipe: a number cut short says nothing."""
    needed = Measurement.get(console, console.options.update(max_width=WIDEST), shown).maximum
    if needed > console.width:
        shown.width = needed
    console.print(shown, crop=False)


def grid(table: Table, layout: Layout = VALUES) -> Grid:
    """Lay a table out. A heading is shown above the first of the columns that it spans."""
    shown = Grid(title=Text(visible(caption(table, layout))), title_justify="left", title_style="bold")
    shown.add_column(Text(visible(table.stub)), overflow="fold")
    before: tuple[str, ...] = ()
    for column in table.columns:
        above = "" if column.heading == before else " ".join(column.heading[-1:])
        lines = [above, column.title] if table.depth else [column.title]
        shown.add_column(Text(visible("\n".join(lines)), justify="right"), justify="right")
        before = column.heading
    for block in blocks(table, layout):
        if block.group:
            shown.add_row(Text(snippet(block.group), style="italic"))
        for line in block.lines:
            shown.add_row(*_texts(line))
        shown.add_section()
    return shown


def _texts(line: TextRow) -> list[Text]:
    faint = "dim" if line.is_paper else ""
    label = Text(snippet(line.label), style="bold" if line.emphasised else faint)
    return [label, *(Text(visible(cell.text), style=STYLES[cell.mark] or faint) for cell in line.cells)]
