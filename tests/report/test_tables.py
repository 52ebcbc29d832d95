"""Tables before they have a format: marks, digits, sizes, and the paper's rows."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.report.tables import (
    COMPLETE,
    INTERVALS,
    VALUES,
    Cell,
    Column,
    Layout,
    Table,
    TableRow,
    blocks,
    caption,
    footnotes,
    marks,
    number,
    sizes,
)

SCORES = st.lists(st.one_of(st.just(math.nan), st.floats(0, 1)), max_size=8)


def table(*rows: TableRow, columns: tuple[Column, ...] = (Column("f1", "F1", 3, True),), **more) -> Table:
    return Table("t", "A table", columns, rows, **more)


def row(label: str, *values: float, group: str = "", **cell) -> TableRow:
    return TableRow(label, tuple(Cell(value, **cell) for value in values), group)


def shown(made: Table, layout: Layout = VALUES) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (line.label, [(c.text, c.mark) for c in line.cells]) for block in blocks(made, layout) for line in block.lines
    ]


def test_the_best_and_the_second_are_marked():
    assert marks([0.1, 0.3, 0.2], 3, True) == ["", "best", "second"]


def test_where_less_is_better_the_least_is_the_best():
    assert marks([0.1, 0.3, 0.2], 3, False) == ["best", "", "second"]


def test_a_cost_is_not_marked():
    assert marks([1.0, 2.0], 1, None) == ["", ""]


def test_values_that_print_alike_share_a_mark():
    assert marks([0.30004, 0.3, 0.2, 0.2], 3, True) == ["best", "best", "second", "second"]


@pytest.mark.parametrize("values", [[0.5], [0.5, math.nan], [0.5, 0.5], [math.nan, math.nan], []])
def test_a_method_that_beats_nobody_is_not_marked(values):
    assert set(marks(values, 3, True)) <= {""}


@given(SCORES)
def test_whatever_is_marked_best_is_at_least_as_good_as_everything_else(values):
    found = marks(values, 3, True)
    known = [round(value, 3) for value in values if not math.isnan(value)]
    assert all(round(value, 3) == max(known) for value, mark in zip(values, found, strict=True) if mark == "best")
    assert ("best" in found) == (len(set(known)) > 1) == ("second" in found)


@given(SCORES, st.randoms())
def test_marks_do_not_depend_on_the_order_of_rows(values, random):
    pairs = list(zip(map(str, values), marks(values, 3, True), strict=True))
    mixed = list(values)
    random.shuffle(mixed)
    assert sorted(pairs) == sorted(zip(map(str, mixed), marks(mixed, 3, True), strict=True))


def test_numbers_have_fixed_decimals_and_thousands_apart():
    assert number(98662.14, 1) == "98,662.1"
    assert number(0.3, 4) == "0.3000"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_a_dash(value):
    assert number(value, 2) == "–"


def test_rows_are_ranked_within_their_group():
    made = table(row("a", 0.1, group="x"), row("b", 0.2, group="x"), row("a", 0.9, group="y"), row("b", 0.8, group="y"))
    assert [cells[0][1] for _, cells in shown(made)] == ["second", "best", "best", "second"]
    assert [block.group for block in blocks(made, VALUES)] == ["x", "y"]


def test_the_papers_value_stands_in_a_row_of_its_own_and_is_not_ranked():
    made = table(TableRow("ours", (Cell(0.2, published=0.9),)), TableRow("theirs", (Cell(0.3),)))
    lines = shown(made)
    assert [label for label, _ in lines] == ["ours", "ours (paper)", "theirs"]
    assert lines[1][1] == [("0.900", "")]
    assert lines[2][1][0][1] == "best"


def test_a_row_without_a_printed_value_has_no_papers_row():
    assert len(shown(table(row("ours", 0.2)))) == 1


def test_intervals_are_shown_where_they_are_asked_for_and_known():
    made = table(TableRow("a", (Cell(0.25, 0.2, 0.3),)), TableRow("b", (Cell(0.5),)))
    assert shown(made, INTERVALS)[0][1][0][0] == "0.250 [0.200, 0.300]"
    assert shown(made, INTERVALS)[1][1][0][0] == "0.500"
    assert shown(made)[0][1][0][0] == "0.250"
    assert caption(made, INTERVALS) != caption(made, VALUES)


def test_all_that_is_known_of_a_value_can_stand_in_its_cell():
    rows = (TableRow("a", (Cell(0.5, 0.4, 0.6, 1200, 0.7),)), TableRow("b", (Cell(),)))
    table = Table("t", "T", (Column("f1", "F1"),), rows)
    [block] = blocks(table, COMPLETE)
    assert [line.cells[0].text for line in block.lines] == ["0.500 [0.400, 0.600] (1,200)", "0.700", "–"]
    assert footnotes(table, COMPLETE)[0].startswith("In parentheses")


def test_a_note_follows_its_value_but_not_a_dash():
    made = table(TableRow("a", (Cell(595, note="/600", decimals=0),)), TableRow("b", (Cell(note="/600"),)))
    assert [cells[0][0] for _, cells in shown(made)] == ["595/600", "–"]


def test_a_text_stands_in_the_place_of_digits():
    assert shown(table(TableRow("a", (Cell(1e-9, text="< 0.0001"),))))[0][1][0][0] == "< 0.0001"


def test_n_is_said_once_where_it_is_the_same_everywhere():
    assert sizes(table(row("a", 0.1, n=200), row("b", 0.2, n=200))) == "n = 200"


def test_n_is_said_by_heading_where_headings_differ():
    columns = (Column("a", "F1", heading=("HotpotQA",)), Column("b", "F1", heading=("Avg.",)))
    made = table(TableRow("x", (Cell(0.1, n=200), Cell(0.2, n=600))), columns=columns)
    assert sizes(made) == "n: HotpotQA 200; Avg. 600"


def test_a_method_with_fewer_queries_is_named():
    made = table(*(row(label, 0.1, n=200) for label in "abc"), row("late", 0.1, n=150))
    assert sizes(made) == "n: 200 (late 150)"


def test_a_metric_with_fewer_queries_is_named_with_its_method():
    columns = (Column("f1", "F1"), Column("em", "EM"))
    made = table(
        TableRow("a", (Cell(0.1, n=9), Cell(0.1, n=9))),
        TableRow("b", (Cell(0.1, n=9), Cell(0.1, n=4))),
        columns=columns,
    )
    assert sizes(made) == "n: 9 (b EM 4)"


def test_footnotes_speak_of_intervals_and_of_the_paper_only_where_they_are_shown():
    made = table(
        TableRow("a", (Cell(0.1, 0, 1, 5, 0.3),)), about_intervals="bars", about_published="theirs", notes=("so",)
    )
    assert footnotes(made, VALUES) == ["n = 5", "so", "theirs"]
    assert footnotes(made, INTERVALS) == ["n = 5", "so", "bars"]


def test_a_row_with_too_few_cells_is_refused():
    with pytest.raises(ValueError, match="must have 1 cells"):
        table(TableRow("a", ()))
