"""Tables on a terminal, as wide as it is: what does not fit beside the rest stands below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

from programs.report.console import snippet
from programs.report.tables import VALUES, Layout, Table, TextRow, blocks, caption, footnotes
from programs.report.visible import visible

WIDEST = 400
LABELS, WORD = 18, 30
"""Letters that labels have at least where they are as long, and letters beyond which a word is broken."""
RULE = 3
"""What stands between two columns."""
STYLES = {"": "", "best": "bold green", "second": "underline"}


def print_table(table: Table, console: Console, layout: Layout = VALUES) -> None:
    """Print a table and its notes."""
    print_fitted(grid(table, layout), console, ["", *(" ".join(column.heading[-1:]) for column in table.columns)])
    for note in footnotes(table, layout):
        console.print(Text(visible(note), style="dim"))
    console.print()


def grid(table: Table, layout: Layout = VALUES) -> Grid:
    """Lay a table out."""
    shown = Grid(title=Text(visible(caption(table, layout))))
    shown.add_column(Text(visible(table.stub)))
    for column in table.columns:
        shown.add_column(Text(visible(column.title)), justify="right")
    for block in blocks(table, layout):
        if block.group:
            shown.add_row(Text(snippet(block.group), style="italic"))
        for line in block.lines:
            shown.add_row(*_texts(line))
        shown.add_section()
    return shown


def print_fitted(shown: Grid, console: Console, above: Sequence[str] = ()) -> None:
    """Print a grid in parts that are no wider than the console, each with the first column.

    A column that stands to the right holds numbers, which are never broken. `above` has what is written above each
    column, once for neighbours that have the same, which are in one part if they fit.
    """
    if shown.title is not None:
        console.print(_plain(shown.title), style="bold")
    stub, *columns = (_measured(shown, console, at, above[at] if above else "") for at in range(len(shown.columns)))
    for number, part in enumerate(_parts(stub, columns, console.width)):
        if number:
            console.print()
        console.print(_part(shown, part, console.width))


@dataclass(frozen=True)
class _Fit:
    """A column's place, what is written above it, and the least and the most letters that it has use for."""

    at: int
    above: str
    least: int
    most: int


def _measured(shown: Grid, console: Console, at: int, above: str) -> _Fit:
    column = shown.columns[at]
    header, cells = _extent(console, [_plain(column.header)]), _extent(console, list(column.cells))
    most = max(header.maximum, cells.maximum)
    if column.justify == "right":
        return _Fit(at, above, max(min(header.minimum, WORD), cells.maximum), most)
    least = min(max(header.minimum, cells.minimum), WORD)
    return _Fit(at, above, max(least, min(most, LABELS)), most)


def _extent(console: Console, texts: Sequence[RenderableType]) -> Measurement:
    measured = [Measurement.get(console, console.options.update(max_width=WIDEST), text) for text in texts]
    return Measurement(max((m.minimum for m in measured), default=0), max((m.maximum for m in measured), default=0))


def _parts(stub: _Fit, columns: Sequence[_Fit], width: int) -> list[list[_Fit]]:
    """Part columns into as few parts as the width allows, none of them much wider than the others."""
    runs = [list(run) for _, run in groupby(columns, key=lambda column: column.above or column.at)]
    units = [unit for run in runs for unit in ([run] if _needed([stub, *run]) <= width else [[one] for one in run])]
    parts = _packed(stub, units, width)
    for narrower in range(width - 1, 0, -1):
        other = _packed(stub, units, narrower)
        if len(other) > len(parts):
            break
        parts = other
    return parts


def _packed(stub: _Fit, units: Sequence[Sequence[_Fit]], width: int) -> list[list[_Fit]]:
    """Take as many units as fit beside the first column, again and again; each part has one at least."""
    parts = [[stub]]
    for unit in units:
        if len(parts[-1]) > 1 and _needed([*parts[-1], *unit]) > width:
            parts.append([stub])
        parts[-1] += unit
    return parts


def _needed(part: Sequence[_Fit]) -> int:
    return sum(column.least + RULE for column in _headed(part)) - RULE


def _headed(part: Sequence[_Fit]) -> list[_Fit]:
    """Keep what is written above columns above the first of neighbours that have the same, which it may widen."""
    headed: list[_Fit] = []
    before = ""
    for column in part:
        text = "" if column.above == before else column.above
        word = min(max(map(len, text.split()), default=0), WORD)
        headed.append(_Fit(column.at, text, max(column.least, word), max(column.most, len(text))))
        before = column.above
    return headed


def _part(shown: Grid, part: Sequence[_Fit], width: int) -> Grid:
    """Give some of the columns, as wide as they have use for while there is room."""
    columns = _headed(part)
    widths = [column.least for column in columns]
    room = width - _needed(part)
    widths[0] = max(1, widths[0] + min(room, 0))  # a number that leaves less for labels stays whole all the same
    while room > 0 and any(have < column.most for have, column in zip(widths, columns, strict=True)):
        for place, column in enumerate(columns):
            if room > 0 and widths[place] < column.most:
                widths[place] += 1
                room -= 1
    made = Grid(show_edge=False, pad_edge=False)
    over = any(column.above for column in columns)
    for column, letters in zip(columns, widths, strict=True):
        source = shown.columns[column.at]
        header = _plain(source.header)
        made.add_column(
            Text(f"{visible(column.above)}\n").append_text(header) if over else header,
            justify=source.justify,
            width=letters,
            overflow="fold",
        )
    cells = zip(*(shown.columns[column.at].cells for column in columns), strict=True)
    for row, texts in zip(shown.rows, cells, strict=True):
        made.add_row(*texts, end_section=row.end_section)
    return made


def _plain(text: RenderableType) -> Text:
    return text if isinstance(text, Text) else Text(str(text))


def _texts(line: TextRow) -> list[Text]:
    faint = "dim" if line.is_paper else ""
    label = Text(snippet(line.label), style="bold" if line.emphasised else faint)
    return [label, *(Text(visible(cell.text), style=STYLES[cell.mark] or faint) for cell in line.cells)]
