"""Score tables by method and workload."""

from __future__ import annotations

import numpy as np
import pytest

from programs.errors import InputError
from programs.report.results import Results


def test_a_mean_is_the_tables_own_and_lies_within_its_bounds(made):
    table = made("staterag", "qasper", 60, questions_a_document=3)
    found = Results([table]).interval("staterag", "qasper", "f1")
    assert found.mean == pytest.approx(table.mean("f1"))
    assert found.low <= found.mean <= found.high
    assert (found.n, found.clusters) == (60, 20)


def test_longbench_is_the_unweighted_mean_of_its_tasks_whatever_their_sizes(made):
    sizes = {"longbench/hotpotqa": 10, "longbench/2wikimqa": 40, "longbench/musique": 25}
    tables = [made("staterag", workload, n) for workload, n in sizes.items()]
    found = Results(tables).interval("staterag", "longbench", "f1")
    assert found.mean == pytest.approx(np.mean([table.mean("f1") for table in tables]))
    assert found.n == 75


def test_a_method_without_all_three_tasks_has_no_average(made):
    results = Results([made("staterag", "longbench/hotpotqa"), made("staterag", "longbench/musique")])
    assert results.interval("staterag", "longbench", "f1") is None
    assert results.with_macro == ["longbench/hotpotqa", "longbench/musique"]


def test_a_metric_that_no_query_has_is_none(made):
    assert Results([made("staterag", "qasper")]).interval("staterag", "qasper", "recall@5") is None
    assert Results([made("staterag", "qasper")]).interval("vanilla", "qasper", "f1") is None


def test_workloads_stand_in_the_papers_order_with_the_average_after_its_tasks(longbench, made):
    results = Results([made("staterag", "corpus/b"), made("staterag", "docvqa"), *longbench, made("x", "corpus/a")])
    tasks = ["longbench/hotpotqa", "longbench/2wikimqa", "longbench/musique"]
    assert results.with_macro == [*tasks, "longbench", "docvqa", "corpus/a", "corpus/b"]
    assert results.summaries(["staterag"]) == ["longbench", "docvqa", "corpus/b"]


def test_two_tables_of_one_method_on_one_workload_are_refused(made):
    with pytest.raises(InputError, match="two runs of 'staterag' on 'qasper'"):
        Results([made("staterag", "qasper"), made("staterag", "qasper", seed=1)])
