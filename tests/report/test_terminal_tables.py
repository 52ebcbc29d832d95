"""Tables on a terminal: every value is there, and no name can move the cursor."""

from __future__ import annotations

import io

from rich.console import Console

from programs.report.tables import INTERVALS, VALUES, Cell, Column, Layout, Table, TableRow
from programs.report.terminal_tables import print_table


def printed(table: Table, layout: Layout = VALUES) -> str:
    out = io.StringIO()
    print_table(table, Console(file=out, width=160, force_terminal=False), layout)
    return out.getvalue()


def made(label: str = "StateRAG") -> Table:
    columns = (Column("f1", "F1", 3, True, ("HotpotQA",)), Column("ret", "RET", 1, None, ("HotpotQA",)))
    rows = (TableRow(label, (Cell(0.25, 0.2, 0.3, 40, 0.9), Cell(1234.5, n=40)), "Group"),)
    return Table("t", "A title", columns, rows, about_published="whose")


def test_title_headings_groups_values_and_notes_are_printed():
    page = printed(made())
    for part in ("A title", "HotpotQA", "F1↑", "Group", "StateRAG", "0.250", "1,234.5", "0.900", "n = 40", "whose"):
        assert part in page


def test_intervals_are_printed_where_asked_for():
    assert "0.250 [0.200, 0.300]" in printed(made(), INTERVALS)


def test_a_name_is_printed_as_text():
    page = printed(made("[red]x[/red]\x1b[2J"))
    assert "[red]x[/red]" in page
    assert "\x1b" not in page
