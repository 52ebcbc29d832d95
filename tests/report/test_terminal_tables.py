"""Tables on a terminal: every value is there, and no name can move the cursor."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Column as GridColumn
from rich.table import Table as Grid
from rich.text import Text

from programs.report.comparison import compare, comparison_table
from programs.report.console import results_table
from programs.report.funnel_tables import funnel_tables
from programs.report.results import Results
from programs.report.run_tables import all_tables
from programs.report.tables import INTERVALS, VALUES, Cell, Column, Layout, Table, TableRow, blocks
from programs.report.terminal_tables import print_fitted, print_table
from programs.run import models_table
from tests.metrics.records import a_record, an_incomplete_record
from tests.report.edge_cases import CASES, FUNNELS

WIDTHS = (50, 60, 80, 120, 200)


def printed(table: Table | Grid, layout: Layout = VALUES, width: int = 160) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False)
    if isinstance(table, Grid):
        print_fitted(table, console)
    else:
        print_table(table, console, layout)
    return out.getvalue()


def check_whole(table: Table, layout: Layout, width: int) -> None:
    """No line is wider than the terminal, and no number is broken."""
    page = printed(table, layout, width)
    assert max(map(len, page.splitlines())) <= width
    for block in blocks(table, layout):
        for line in block.lines:
            assert all(cell.text in page for cell in line.cells)


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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES)
def test_a_reports_tables_fit_the_terminal_with_every_number_whole(case, width):
    for table in all_tables(Results(CASES[case]())):
        check_whole(table, VALUES, width)
        check_whole(table, INTERVALS, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", ["usual", "several-workloads", "long-names", "all-incomplete"])
def test_a_comparison_fits_the_terminal(case, width):
    check_whole(comparison_table(compare(CASES[case]())), INTERVALS, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", FUNNELS)
def test_a_funnel_fits_the_terminal(case, width):
    for table in funnel_tables(FUNNELS[case]()):
        check_whole(table, VALUES, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_catalogue_of_models_fits_the_terminal_with_every_name_whole(width):
    page = printed(models_table(), width=width)
    assert max(map(len, page.splitlines())) <= width
    for word in ("ms-marco-minilm-l-12-v2", "sentence-transformers", "Apache-2.0"):
        assert word in page


@pytest.mark.parametrize("width", WIDTHS)
def test_the_samples_answers_fit_the_terminal(width):
    rows = [
        (a_record(question="Which of the two shipyards on the river is older? " * 3), ["the Heron"], True, 0.5),
        (an_incomplete_record(), ["a" * 200], False, 0.0),
    ]
    page = printed(results_table(rows), width=width)
    assert max(map(len, page.splitlines())) <= width
    for word in ("RELEASE×1", "⊥×0", "50%", "1.8", "400"):
        assert word in page


def test_columns_below_one_heading_stay_together_where_they_fit():
    page = printed(all_tables(Results(CASES["usual"]()))[0], width=80)
    assert [line.split("┃")[1].strip() for line in page.splitlines() if "RET" not in line and "┃" in line] == [
        "HotpotQA",
        "MuSiQue",
    ]


def test_a_heading_is_written_once_above_its_columns():
    assert printed(made()).count("HotpotQA") == 1


def test_parts_are_about_as_wide_as_each_other():
    numbers = Grid("name", *(GridColumn(f"column {at}", justify="right") for at in range(7)))
    numbers.add_row("row", *(Text("1234567890") for _ in range(7)))
    heads = [line for line in printed(numbers, width=90).splitlines() if line.startswith("name")]
    assert [head.count("┃") for head in heads] == [4, 3]


def test_markup_in_a_title_or_a_heading_is_text():
    grid = Grid("[red]stub[/red]", title="[bold]x[/bold]")
    grid.add_row(Text("[blue]"))
    page = printed(grid)
    assert "[red]stub[/red]" in page
    assert "[bold]x[/bold]" in page
