"""The paper's tables, made from score tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from programs.report.names import LONGBENCH
from programs.report.paper_tables import (
    ablation_differences,
    ablation_table,
    documents_table,
    longbench_table,
    other_table,
    paper_tables,
)
from programs.report.results import Results
from programs.report.run_tables import all_tables
from programs.report.tables import VALUES, Cell, Table, blocks


def cell(table: Table, row: str, column: str, group: str = "") -> Cell:
    at = [each.key for each in table.columns].index(column)
    [found] = [each for each in table.rows if each.label == row and each.group in (group, "")]
    return found.cells[at]


def test_the_longbench_table_has_tasks_and_their_mean(longbench):
    table = longbench_table(Results(longbench))
    assert [row.label for row in table.rows] == ["Vanilla RAG", "ReAct", "StateRAG"]
    assert [column.label for column in table.columns] == ["EM", "F1", "RET"] * 4
    tasks = [cell(table, "ReAct", f"{task}.f1").value for task in LONGBENCH]
    average = cell(table, "ReAct", "longbench.f1")
    assert average.value == pytest.approx(np.mean(tasks))
    assert average.n == 120
    assert average.low < average.value < average.high


def test_the_papers_value_stands_beside_ours(longbench):
    table = longbench_table(Results(longbench))
    assert cell(table, "StateRAG", "longbench.f1").published == 0.4753
    assert "Qwen2.5-14B" in table.about_published


def test_ret_is_not_marked_and_quality_is(longbench):
    table = longbench_table(Results(longbench))
    [block] = blocks(table, VALUES)
    marked = {
        column.label
        for line in block.lines
        for column, shown in zip(table.columns, line.cells, strict=True)
        if shown.mark
    }
    assert marked == {"EM", "F1"}


def test_a_method_that_lacks_a_task_has_a_dash_in_its_average(longbench, made):
    table = longbench_table(Results([*longbench, made("raptor", "longbench/hotpotqa")]))
    assert math.isfinite(cell(table, "RAPTOR", "longbench/hotpotqa.em").value)
    assert math.isnan(cell(table, "RAPTOR", "longbench.em").value)


def test_columns_of_workloads_that_nobody_ran_are_left_out(made):
    table = documents_table(Results([made("staterag", "qasper"), made("vanilla", "qasper")]))
    assert {column.heading[-1] for column in table.columns} == {"QASPER"}


def test_docvqa_is_scored_by_anls(made):
    table = documents_table(Results([made("staterag", "docvqa")]))
    assert [column.key for column in table.columns] == ["docvqa.anls", "docvqa.accuracy", "docvqa.ret"]


def test_without_a_reader_there_is_no_table_of_answers(made):
    silent = made("staterag", "qasper", em=math.nan, f1=math.nan, accuracy=math.nan, anls=math.nan)
    assert documents_table(Results([silent])) is None
    assert "evidence" in {table.name for table in all_tables(Results([silent]))}


def test_variants_are_in_the_ablations_and_not_in_the_main_table(longbench, made):
    variants = [made("staterag-without-tam", task, strength=0.2) for task in LONGBENCH]
    results = Results([*longbench, *variants])
    assert "StateRAG w/o TAM" not in {row.label for row in longbench_table(results).rows}
    table = ablation_table(results)
    assert [row.label for row in table.rows] == ["w/o TAM", "Full"]
    assert cell(table, "w/o TAM", "em", "LongBench macro").published == 0.3283
    assert table.rows[1].emphasised


def test_the_ranking_alone_stands_beside_the_ablations_and_not_without_them(longbench, made):
    alone = [made("flat-fusion", task) for task in LONGBENCH]
    assert ablation_table(Results([*longbench, *alone])) is None
    variants = [made("staterag-without-tam", task) for task in LONGBENCH]
    table = ablation_table(Results([*longbench, *alone, *variants]))
    assert [row.label for row in table.rows] == ["w/o TAM", "Flat fusion", "Full"]


def test_workloads_that_the_paper_does_not_have_get_a_table_of_their_own(longbench, made):
    assert other_table(Results(longbench)) is None
    table = other_table(Results([made("staterag", "own"), made("vanilla", "own"), made("staterag-typed", "own")]))
    assert [row.label for row in table.rows] == ["Vanilla RAG", "StateRAG"]
    assert not table.has_published


def test_an_ablation_on_one_task_is_shown_by_that_task(made):
    tables = [made(name, "longbench/musique") for name in ("staterag", "staterag-without-smp")]
    table = ablation_table(Results(tables))
    assert {row.group for row in table.rows} == {"MuSiQue"}
    assert all(math.isnan(found.published) for row in table.rows for found in row.cells)


def test_differences_are_full_less_removal_in_percentage_points(made):
    full, less = made("staterag", "qasper", strength=0.9), made("staterag-without-mars", "qasper", strength=0.1)
    table = ablation_differences(Results([full, less]))
    found = cell(table, "w/o MARS", "em", "QASPER")
    assert found.value == pytest.approx(100 * (full.mean("em") - less.mean("em")))
    assert found.low < found.value < found.high
    assert (found.n, found.published) == (40, 4.56)


def test_there_is_no_ablation_table_without_a_variant(longbench):
    assert {table.name for table in paper_tables(Results(longbench))} == {"longbench"}


def test_systems_of_two_runs_keep_the_papers_value(made):
    table = documents_table(Results([made("monday/staterag", "qasper"), made("sunday/staterag", "qasper", seed=2)]))
    assert [row.label for row in table.rows] == ["StateRAG (monday)", "StateRAG (sunday)"]
    assert {cell(table, row.label, "qasper.f1").published for row in table.rows} == {0.3988}
