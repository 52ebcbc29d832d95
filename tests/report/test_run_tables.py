"""The tables beyond the paper's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from metrics.record import Phase
from metrics.work import WorkSpent, WorkStep
from programs.report.names import LONGBENCH
from programs.report.results import Results
from programs.report.run_tables import all_tables, diagnostics_table, memory_table, token_table, work_table
from programs.report.table_formats import write_tables


def by_name(results: Results):
    return {table.name: table for table in all_tables(results)}


def test_every_group_of_metrics_has_its_table(made):
    corpus = {f"recall@{k}": 0.5 for k in (1, 2, 5, 10)}
    results = Results([made("staterag", "qasper"), made("staterag", "corpus/x", source_recall=0.5, **corpus)])
    expected = {"documents", "other-workloads", "answers", "evidence", "corpus", "tokens", "latency", "memory"}
    expected |= {"diagnostics"}
    assert set(by_name(results)) == expected


def test_recall_at_k_is_shown_for_the_corpus_alone(made):
    results = Results([made("staterag", "qasper"), made("staterag", "corpus/x", **{"recall@5": 0.25})])
    table = by_name(results)["corpus"]
    assert [(row.group, row.cells[0].value) for row in table.rows] == [("corpus/x", 0.25)]


def test_tokens_have_ret_and_the_papers_index_tokens(made):
    table = token_table(Results([made("staterag", task) for task in LONGBENCH]))
    assert "ret" in {column.key for column in table.columns}
    [macro] = [row for row in table.rows if row.group == "LongBench macro"]
    printed = {column.key: found.published for column, found in zip(table.columns, macro.cells, strict=True)}
    assert printed["tokens_index"] == 708
    assert math.isnan(printed["ret"])


def test_a_hit_rate_weighs_reads_and_longbench_weighs_tasks(made):
    hits = dict(zip(LONGBENCH, (1.0, 2.0, 6.0), strict=True))
    sizes = dict(zip(LONGBENCH, (10, 20, 30), strict=True))
    tables = [made("staterag", task, sizes[task], memory_reads=10.0, memory_hits=hits[task]) for task in LONGBENCH]
    table = memory_table(Results(tables))
    rates = {row.group: row.cells[-1] for row in table.rows}
    assert rates["HotpotQA"].value == pytest.approx(10.0)
    assert rates["LongBench macro"].value == pytest.approx(30.0)
    assert rates["HotpotQA"].published == 5.77
    assert rates["LongBench macro"].published == 17.44


def test_work_is_a_mean_over_all_queries_by_role_and_phase_and_longbench_weighs_tasks(made):
    def spent(n, calls):
        return WorkSpent(np.full(n, calls), np.full(n, 100.0 * calls), np.full(n, 0.5 * calls))

    planner, reader = WorkStep(Phase.AUX, "planner"), WorkStep(Phase.READER, "reader")
    tables = [
        replace(made("staterag", task, n), work={planner: spent(n, calls), reader: spent(n, 1.0)})
        for task, n, calls in zip(LONGBENCH, (10, 20, 30), (1.0, 2.0, 6.0), strict=True)
    ]
    table = work_table(Results(tables))
    found = {(row.group, row.label): [cell.value for cell in row.cells] for row in table.rows}
    assert found["HotpotQA", "StateRAG: planner (auxiliary)"] == [1, 100, 0.5]
    assert found["LongBench macro", "StateRAG: planner (auxiliary)"] == pytest.approx([3, 300, 1.5])
    assert found["LongBench macro", "StateRAG: reader (reader)"] == [1, 100, 0.5]
    assert work_table(Results([made("vanilla", "qasper")])) is None


def test_a_method_that_never_read_global_memory_has_no_hit_rate(made):
    assert memory_table(Results([made("vanilla", "qasper", memory_reads=0.0, memory_hits=0.0)])) is None


def test_diagnostics_count_events_and_average_work(made):
    table = diagnostics_table(Results([made("staterag", "qasper", 30, parse_failures=2.0, cycles=1.5)]))
    cells = {column.key: found for column, found in zip(table.columns, table.rows[0].cells, strict=True)}
    assert cells["parse_failures"].value == 60
    assert cells["cycles"].value == 1.5
    assert cells["reached_reader"].note == "/30"
    assert "transport_retries" not in cells


def test_every_table_of_a_full_report_can_be_written(longbench, made, tmp_path):
    variants = [
        made(name, task)
        for name in ("staterag-without-mars", "staterag-typed", "staterag-free-form", "=|<b>\n$own$")
        for task in LONGBENCH
    ]
    tables = all_tables(Results([*longbench, *variants, made("staterag", "qasper", 9)]))
    for path in write_tables(tables, tmp_path):
        assert path.stat().st_size > 1000
