"""A table before it has a format: numbers with their intervals and sizes, and which of them are the best.

What a format needs is worked out once, in `lines`: Markdown, LaTeX and the terminal show the same texts and marks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

ABSENT = "–"
IN_CELLS = "In parentheses: how many queries a value is over."
Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Column:
    """What a column holds. `heading` is what stands above its label, from the top down, and spans its neighbours."""

    key: str
    label: str
    decimals: int = 3
    higher_is_better: bool | None = None
    """Says which values are marked as the best; None marks none, as for what is a cost and not a quality."""
    heading: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The label, with an arrow where one direction is better."""
        return self.label + {True: "↑", False: "↓", None: ""}[self.higher_is_better]


@dataclass(frozen=True)
class Cell:
    """A number, what it rests on, and what the paper prints in its place. NaN is no number."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int | None = None
    published: float = math.nan
    note: str = ""
    """Shown right after the value, such as "/600"."""
    decimals: int | None = None
    """Where they are not the column's."""
    text: str = ""
    """Shown in the value's place, where its digits would say too little, such as "< 0.0001"."""


@dataclass(frozen=True)
class TableRow:
    """One line. Values are ranked among the rows of one group."""

    label: str
    cells: tuple[Cell, ...]
    group: str = ""
    emphasised: bool = False


@dataclass(frozen=True)
class Table:
    """Columns and rows, a title, and what has to be said below them. `name` is the stem of its files."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    stub: str = "Method"
    notes: tuple[str, ...] = ()
    about_intervals: str = ""
    about_published: str = ""

    def __post_init__(self) -> None:
        uneven = [row.label for row in self.rows if len(row.cells) != len(self.columns)]
        if uneven:
            raise ValueError(f"table {self.name}: {', '.join(uneven)} must have {len(self.columns)} cells")

    @property
    def depth(self) -> int:
        """How many headings stand above the labels."""
        return max((len(column.heading) for column in self.columns), default=0)

    @property
    def has_intervals(self) -> bool:
        """Tell whether a value's doubt is known."""
        return any(math.isfinite(cell.low) for row in self.rows for cell in row.cells)

    @property
    def has_published(self) -> bool:
        """Tell whether the paper prints a value in some value's place."""
        return any(math.isfinite(cell.published) for row in self.rows for cell in row.cells)


@dataclass(frozen=True)
class Layout:
    """What a rendering shows beside the values."""

    intervals: bool = False
    published: bool = True
    sizes: bool = False
    """How many queries each value is a mean over, in its own cell."""


VALUES = Layout()
"""The values, with the paper's below them."""
INTERVALS = Layout(intervals=True, published=False)
"""The values with their intervals, which leave no room for the paper's."""


COMPLETE = Layout(intervals=True, published=True, sizes=True)
"""All that is known of a value, in its cell, with the paper's below it."""


@dataclass(frozen=True)
class Shown:
    """A cell as text."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True)
class TextRow:
    """A row as text. A paper's row stands below the row that it belongs to."""

    label: str
    cells: tuple[Shown, ...]
    emphasised: bool = False
    is_paper: bool = False


@dataclass(frozen=True)
class Block:
    """The lines of one group of rows."""

    group: str
    lines: list[TextRow] = field(default_factory=list)


def blocks(table: Table, layout: Layout) -> list[Block]:
    """Give the table's texts, group by group."""
    return [
        Block(group, list(_lines(list(rows), table.columns, layout)))
        for group, rows in groupby(table.rows, key=lambda row: row.group)
    ]


def caption(table: Table, layout: Layout) -> str:
    """Give the title, and say where intervals are shown in place of what another rendering shows."""
    told_apart = layout.intervals and not layout.sizes and table.has_intervals
    return f"{table.title}, with intervals" if told_apart else table.title


def footnotes(table: Table, layout: Layout) -> list[str]:
    """Say how many queries the values are means over, and whatever else a reader of them has to know."""
    counted = any(cell.n is not None for row in table.rows for cell in row.cells)
    said = IN_CELLS if layout.sizes and counted else sizes(table)
    notes = [said, *table.notes]
    if layout.intervals and table.has_intervals:
        notes.append(table.about_intervals)
    if layout.published and table.has_published:
        notes.append(table.about_published)
    return [note for note in notes if note]


def sizes(table: Table) -> str:
    """Say n once where it is the same everywhere, else by heading or group, with the cells that differ named."""
    counted = [
        (" ".join(filter(None, (row.group, *column.heading[-1:]))), row.label, column.label, cell.n)
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.n is not None
    ]
    if not counted:
        return ""
    if len({n for *_, n in counted}) == 1:
        return f"n = {counted[0][-1]:,}"
    parts = []
    for place in dict.fromkeys(place for place, *_ in counted):
        here = [(label, column, n) for at, label, column, n in counted if at == place]
        parts.append(f"{place} {_most_and_others(here)}".strip())
    return "n: " + "; ".join(parts)


def number(value: float, decimals: int) -> str:
    """Write a number for people: fixed decimals and thousands apart, a dash where there is none."""
    return f"{value:,.{decimals}f}" if math.isfinite(value) else ABSENT


def marks(values: Sequence[float], decimals: int, higher_is_better: bool | None) -> list[Mark]:
    """Mark the best and the second best as they are printed; equals share a mark.

    There is no best among fewer than two different values: a method alone has beaten nobody.
    """
    printed = [round(value, decimals) if math.isfinite(value) else math.nan for value in values]
    ranks = sorted({value for value in printed if not math.isnan(value)}, reverse=bool(higher_is_better))
    if higher_is_better is None or len(ranks) < 2:
        return [""] * len(values)
    first, second = ranks[:2]
    return ["best" if value == first else "second" if value == second else "" for value in printed]


def _lines(rows: list[TableRow], columns: Sequence[Column], layout: Layout) -> Iterator[TextRow]:
    ranked = [
        marks([row.cells[at].value for row in rows], column.decimals, column.higher_is_better)
        for at, column in enumerate(columns)
    ]
    for place, row in enumerate(rows):
        cells = zip(row.cells, columns, ranked, strict=True)
        shown = tuple(Shown(_text(cell, column, layout), mark[place]) for cell, column, mark in cells)
        yield TextRow(row.label, shown, row.emphasised)
        if layout.published and any(math.isfinite(cell.published) for cell in row.cells):
            paper = (_digits(cell, column, cell.published) for cell, column in zip(row.cells, columns, strict=True))
            yield TextRow(f"{row.label} (paper)", tuple(map(Shown, paper)), is_paper=True)


def _text(cell: Cell, column: Column, layout: Layout) -> str:
    text = cell.text or _digits(cell, column, cell.value)
    if text != ABSENT:
        text += cell.note
    if layout.intervals and math.isfinite(cell.low) and math.isfinite(cell.high):
        text += f" [{_digits(cell, column, cell.low)}, {_digits(cell, column, cell.high)}]"
    if layout.sizes and cell.n is not None and text != ABSENT:
        text += f" ({cell.n:,})"
    return text


def _digits(cell: Cell, column: Column, value: float) -> str:
    return number(value, column.decimals if cell.decimals is None else cell.decimals)


def _most_and_others(counted: list[tuple[str, str, int]]) -> str:
    [(most, _)] = Counter(n for *_, n in counted).most_common(1)
    whole: dict[str, set[int]] = {}
    for label, _, n in counted:
        whole.setdefault(label, set()).add(n)
    others = [f"{label} {n:,}" for label, found in whole.items() if len(found) == 1 for n in found if n != most]
    others += [f"{label} {column} {n:,}" for label, column, n in counted if len(whole[label]) > 1 and n != most]
    return f"{most:,} ({', '.join(others)})" if others else f"{most:,}"
