"""Several ways of running a method, side by side."""

from __future__ import annotations

import math

import pytest

from programs.report.names import LONGBENCH
from programs.reproduce.arm_tables import arm_table
from programs.reproduce.studies import chosen_studies
from tests.report.conftest import make


@pytest.fixture
def study():
    return chosen_studies("constrained")[0]


def tables(name, value):
    return [make(name, task, 20, f1=value) for task in LONGBENCH]


def test_each_way_has_a_row_and_its_difference_from_the_first(study):
    held, told = study.arms
    found = arm_table(study, {held: tables("staterag-typed", 0.6), told: tables("staterag-typed", 0.4)})
    assert [row.label for row in found.rows] == [
        "StateRAG, typed (held to schemas)",
        "StateRAG, typed (told of schemas)",
    ]
    less = [column.key for column in found.columns].index("less.f1")
    assert found.rows[1].cells[less].value == pytest.approx(-0.2)
    assert found.rows[1].cells[less].n == 60
    assert {row.group for row in found.rows} == {"LongBench macro"}


def test_the_papers_hit_rate_stands_beside_the_method_as_it_is_set_alone():
    [horizon] = chosen_studies("horizon")
    first, other = horizon.arms[:2]
    found = arm_table(horizon, {first: tables("staterag", 0.6), other: tables("staterag", 0.4)})
    rate = [column.key for column in found.columns].index("hit_rate")
    published = {row.label: row.cells[rate].published for row in found.rows}
    assert published["StateRAG (all queries before)"] == 17.44
    assert math.isnan(published["StateRAG (no query before)"])


def test_a_way_that_was_not_run_has_no_row(study):
    held, told = study.arms
    found = arm_table(study, {told: tables("staterag-typed", 0.4)})
    assert [row.label for row in found.rows] == ["StateRAG, typed (told of schemas)"]
    assert not any(column.key.startswith("less.") for column in found.columns)
    assert arm_table(study, {held: [], told: []}) is None
