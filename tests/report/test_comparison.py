"""Comparisons of systems on the queries that both have."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import binomtest

from metrics.significance import holm
from programs.errors import InputError
from programs.report.comparison import Comparer, compare, comparison_table
from programs.report.table_formats import markdown
from programs.report.tables import INTERVALS
from programs.report.terminal_tables import print_table

QUICK = Comparer(resamples=400)


def only(comparisons, **wanted):
    [found] = [each for each in comparisons if all(getattr(each, key) == value for key, value in wanted.items())]
    return found


def test_every_other_system_is_compared_with_the_first(longbench):
    found = compare(longbench, metrics=["f1"], comparer=QUICK)
    assert {each.reference for each in found} == {"vanilla"}
    assert {each.system for each in found} == {"react", "staterag"}
    assert {each.workload for each in found} == {table.workload for table in longbench} | {"longbench"}


def test_a_difference_is_the_system_less_the_reference(made):
    weak, strong = made("vanilla", "qasper", strength=0.2), made("staterag", "qasper", strength=0.9)
    found = compare([weak, strong], reference="vanilla", metrics=["em"], comparer=QUICK)[0]
    assert found.paired.difference == pytest.approx(strong.mean("em") - weak.mean("em"))
    assert found.system_mean - found.reference_mean == pytest.approx(found.paired.difference)
    assert found.paired.low > 0
    assert found.p < 0.01


def test_queries_are_matched_by_id_and_not_by_place(made):
    table = made("staterag", "qasper", 30)
    order = np.random.default_rng(0).permutation(30)
    mixed = replace(
        table,
        method="vanilla",
        query_ids=[table.query_ids[i] for i in order],
        clusters=[table.clusters[i] for i in order],
        values={name: values[order] for name, values in table.values.items()},
    )
    found = compare([table, mixed], metrics=["f1"], comparer=QUICK)[0]
    assert (found.paired.difference, found.paired.p, found.left_out) == (0.0, 1.0, 0)


def test_only_common_queries_count_and_the_others_are_said(made):
    ours = made("staterag", "qasper", ids=[f"q{i}" for i in range(30)])
    theirs = made("vanilla", "qasper", ids=[f"q{i}" for i in range(20, 45)])
    found = compare([ours, theirs], metrics=["f1"], comparer=QUICK)[0]
    assert found.paired.n == 10
    assert found.left_out == 20 + 15
    assert found.reference_mean == pytest.approx(ours.values["f1"][20:].mean())


def test_a_query_that_one_system_has_no_value_for_leaves_both(made):
    ours, theirs = made("staterag", "qasper", 20), made("vanilla", "qasper", 20)
    theirs.values["f1"][:5] = np.nan
    found = compare([ours, theirs], metrics=["f1"], comparer=QUICK)[0]
    assert found.paired.n == 15
    assert found.reference_mean == pytest.approx(ours.values["f1"][5:].mean())


def test_a_metric_of_0_and_1_has_mcnemars_exact_test(made):
    ours, theirs = made("staterag", "qasper", 50, strength=0.8), made("vanilla", "qasper", 50, strength=0.3)
    found = compare([theirs, ours], metrics=["em", "f1"], comparer=QUICK)
    em, f1 = only(found, metric="em"), only(found, metric="f1")
    only_ours = int(((ours.values["em"] == 1) & (theirs.values["em"] == 0)).sum())
    only_theirs = int(((ours.values["em"] == 0) & (theirs.values["em"] == 1)).sum())
    assert (em.mcnemar.only_a, em.mcnemar.only_b) == (only_ours, only_theirs)
    assert em.p == pytest.approx(binomtest(only_ours, only_ours + only_theirs).pvalue)
    assert f1.mcnemar is None


def test_documents_with_several_questions_are_taken_whole(made):
    tables = [made(name, "qasper", 30, questions_a_document=3) for name in ("staterag", "vanilla")]
    found = compare(tables, metrics=["em"], comparer=QUICK)[0]
    assert found.paired.clusters == 10
    assert found.mcnemar.test == "cluster sign-flip"


def test_holm_is_over_all_comparisons_made(longbench):
    found = compare(longbench, comparer=QUICK)
    assert [each.p_holm for each in found] == pytest.approx(holm([each.p for each in found]))
    assert {each.family for each in found} == {len(found)}


def test_the_average_over_tasks_is_compared_where_both_ran_all_three(longbench):
    found = only(compare(longbench, metrics=["f1"], comparer=QUICK), workload="longbench", system="staterag")
    means = [table.mean("f1") for table in longbench if table.method == "staterag"]
    assert found.system_mean == pytest.approx(np.mean(means))
    assert found.paired.n == 120
    short = [table for table in longbench if (table.method, table.workload) != ("react", "longbench/musique")]
    averaged = {each.system for each in compare(short, metrics=["f1"], comparer=QUICK) if each.workload == "longbench"}
    assert averaged == {"staterag"}


def test_without_a_choice_the_papers_metrics_and_recall_are_compared(made):
    tables = [made(name, workload, 8) for name in ("vanilla", "staterag") for workload in ("docvqa", "qasper", "own")]
    by_workload = {}
    for each in compare(tables, comparer=QUICK):
        by_workload.setdefault(each.workload, []).append(each.metric)
    assert by_workload["docvqa"] == ["anls", "accuracy", "passage_recall"]
    assert by_workload["qasper"] == ["em", "f1", "accuracy", "passage_recall"]
    assert by_workload["own"] == ["em", "f1", "passage_recall"]


def test_swapping_the_reference_turns_the_sign(made):
    tables = [made("vanilla", "qasper", strength=0.3), made("staterag", "qasper", strength=0.6)]
    there = compare(tables, reference="vanilla", metrics=["f1"], comparer=QUICK)[0].paired
    back = compare(tables, reference="staterag", metrics=["f1"], comparer=QUICK)[0].paired
    assert there.difference == pytest.approx(-back.difference)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"reference": "gone"}, "no system is called 'gone'"), ({"metrics": ["f2"]}, "no metric is called 'f2'")],
)
def test_a_name_that_does_not_exist_is_said_with_those_that_do(longbench, options, said):
    with pytest.raises(InputError, match=said):
        compare(longbench, **options)


def test_one_system_alone_can_not_be_compared(made):
    with pytest.raises(InputError, match="needs two systems"):
        compare([made("staterag", "qasper")])


def test_systems_without_a_common_query_can_not_be_compared(made):
    tables = [made("staterag", "qasper", ids=["a", "b"]), made("vanilla", "qasper", ids=["c", "d"])]
    with pytest.raises(InputError, match="no scored query in common"):
        compare(tables)


def test_a_comparison_is_a_table_with_its_intervals_and_tests(made):
    tables = [made("vanilla", "qasper", 80, strength=0.05), made("staterag", "qasper", 80, strength=0.98)]
    table = comparison_table(compare(tables, metrics=["em", "f1"], comparer=QUICK))
    page = markdown(table, INTERVALS)
    assert "StateRAG: EM" in page
    assert "&lt; 0.0001" in page
    assert "adjusted for the 2 comparisons made" in page
    out = io.StringIO()
    print_table(table, Console(file=out, width=200), INTERVALS)
    assert "Only Vanilla RAG" in out.getvalue()


def test_an_adjusted_p_value_is_never_below_its_own(longbench):
    for each in compare(longbench, comparer=QUICK):
        assert each.p_holm >= each.p or math.isclose(each.p_holm, each.p)
