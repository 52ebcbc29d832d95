"""The carrier control: quality, tokens, diagnostics."""

from __future__ import annotations

import pytest

from programs.report.carrier_tables import carrier_diagnostics, carrier_differences, carrier_table, carrier_tokens
from programs.report.names import LONGBENCH
from programs.report.results import Results
from programs.report.tables import VALUES, blocks


@pytest.fixture
def carriers(made):
    typed = [made("staterag-typed", task, 20, tokens_aux=3246.7, incomplete=0.0) for task in LONGBENCH]
    free = [made("staterag-free-form", task, 20, tokens_aux=3571.3, incomplete=1.0) for task in LONGBENCH]
    return Results([*typed, *free])


def test_both_carriers_stand_beside_the_papers(carriers):
    table = carrier_table(carriers)
    assert [row.label for row in table.rows] == ["Typed, role-owned", "Free-form shared"]
    assert [row.cells[-1].published for row in table.rows] == [2797.6, 2983.1]


def test_the_difference_of_tokens_is_typed_less_free_form(carriers):
    table = carrier_tokens(carriers)
    assert [row.label for row in table.rows][-1] == "Typed minus Free-form"
    assert table.rows[-1].cells[1].value == pytest.approx(-324.6)
    assert table.rows[-1].cells[1].published == -324.7


def test_one_carrier_alone_has_no_difference(made):
    table = carrier_tokens(Results([made("staterag-typed", task) for task in LONGBENCH]))
    assert [row.label for row in table.rows] == ["Typed, role-owned"]


def test_diagnostics_are_the_papers_rows_over_all_queries(carriers):
    table = carrier_diagnostics(carriers)
    lines = {line.label: [shown.text for shown in line.cells] for line in blocks(table, VALUES)[0].lines}
    assert lines["Total queries"] == ["60", "60"]
    assert lines["Incomplete executions"] == ["0/60", "60/60"]
    assert lines["Incomplete executions (paper)"] == ["5", "8"]
    assert lines["Cycles per query (paper)"] == ["1.455", "1.500"]
    assert lines["Queries reaching the reader"] == ["60/60", "60/60"]


def test_without_all_three_tasks_the_diagnostics_are_of_what_ran_with_nothing_of_the_papers_beside(made):
    table = carrier_diagnostics(Results([made("staterag-typed", "longbench/hotpotqa", 20)]))
    assert [column.label for column in table.columns] == ["Typed"]
    assert {row.group for row in table.rows} == {"HotpotQA"}
    assert not table.has_published


def test_typed_less_free_form_is_paired_and_stands_beside_the_papers(carriers):
    table = carrier_differences(carriers)
    [row] = table.rows
    assert [cell.published for cell in row.cells] == [1.30, 2.20, 3.00]
    assert all(cell.low <= cell.value <= cell.high for cell in row.cells)
    assert row.cells[0].n == 60


def test_one_carrier_alone_has_no_paired_difference(made):
    assert carrier_differences(Results([made("staterag-typed", task) for task in LONGBENCH])) is None
