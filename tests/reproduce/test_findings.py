"""What is said of a claim follows from paired differences and from nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from programs.report.names import LONGBENCH
from programs.report.results import Results
from programs.reproduce.claims import CLAIMS, Claim
from programs.reproduce.findings import (
    Bearing,
    Outcome,
    cheaper,
    findings,
    findings_table,
    greatest_loss,
    judged,
    passing,
    printed,
)
from tests.report.conftest import make

SHARES, WHOLE = ("f1", "anls", "passage_recall"), ("em", "accuracy")


def scored(method, workload="sample", n=40, value=0.5, **fixed):
    """A method that has one score everywhere; it is right where that is above a half."""
    right = float(value > 0.5)
    return make(method, workload, n, **dict.fromkeys(SHARES, value), **dict.fromkeys(WHOLE, right), **fixed)


def claim(system="staterag", others=("vanilla",), metrics=("f1",), less=False):
    return Claim("it is so", system, others, {}, metrics, less)


def test_a_difference_in_every_query_is_shown_and_its_contrary_too():
    ahead = judged(claim(), Results([scored("staterag", value=0.9), scored("vanilla")]))
    assert ahead.outcome is Outcome.HELD
    [difference] = ahead.differences
    assert difference.bearing is Bearing.SHOWN
    assert difference.value == pytest.approx(0.4)
    behind = judged(claim(), Results([scored("staterag", value=0.1), scored("vanilla")]))
    assert behind.outcome is Outcome.FAILED
    assert behind.differences[0].bearing is Bearing.CONTRARY
    assert "the contrary is shown in 1" in behind.detail


@pytest.mark.parametrize("n", [1, 3])
def test_few_queries_show_nothing_however_short_their_interval(n):
    found = judged(claim(), Results([scored("staterag", n=n, value=0.9), scored("vanilla", n=n)]))
    assert found.outcome is Outcome.BY_MEANS
    assert "shown in 0" in found.detail


def test_equals_do_not_bear_a_claim_out():
    assert judged(claim(), Results([scored("staterag"), scored("vanilla")])).outcome is Outcome.FAILED


def test_less_of_a_cost_bears_a_claim_out():
    tables = [scored("staterag", ret=100.0), scored("vanilla", ret=200.0)]
    assert judged(claim(metrics=("ret",), less=True), Results(tables)).outcome is Outcome.HELD
    assert judged(claim(metrics=("ret",)), Results(tables)).outcome is Outcome.FAILED


def test_of_several_others_the_one_that_speaks_most_against_it_counts():
    tables = [scored("staterag", value=0.5), scored("vanilla", value=0.1), scored("dosrag", value=0.8)]
    found = judged(claim(others=("vanilla", "dosrag", "react")), Results(tables))
    assert found.outcome is Outcome.FAILED
    assert found.differences[0].comparison.system == "dosrag"
    assert found.detail.endswith("without ReAct")


def test_what_was_not_run_is_not_measured_and_gets_no_row():
    found = findings([scored("vanilla"), scored("dosrag")])
    unknown = [each for each in found if each.outcome is Outcome.UNKNOWN]
    assert all(not each.differences for each in unknown)
    assert len(unknown) == len(CLAIMS) + 3 - 2  # Vanilla's cost is compared, and admissions are counted
    table = findings_table([each for each in found if each.outcome is Outcome.UNKNOWN])
    assert table is None


def test_on_longbench_a_claim_is_about_the_average_and_the_papers_difference_stands_beside_it():
    tables = [make(name, task, 30, strength=s) for name, s in (("staterag", 0.9), ("react", 0.2)) for task in LONGBENCH]
    [found] = [each for each in findings(tables) if each.said == "StateRAG's macro averages exceed ReAct's"]
    assert [each.workload for each in found.differences] == ["longbench", "longbench"]
    cells = {row.label: row.cells for row in findings_table([found]).rows}
    assert cells["EM against ReAct"][3].text == "+0.063"
    assert cells["EM against ReAct"][2].n == 90


def test_the_paper_has_no_value_of_a_way_of_running_that_is_ours():
    assert printed("staterag", "longbench", "em") == 0.3817
    assert math.isnan(printed("no query before/staterag", "longbench", "em"))
    assert math.isnan(printed("staterag", "sample", "em"))


def test_a_baseline_that_passes_staterag_is_found_and_what_is_shown_comes_first():
    rng = np.random.default_rng(0)
    close = scored("dosrag", value=0.5)
    close.values["f1"] = np.clip(0.5 + rng.normal(0.001, 0.2, 40), 0, 1)
    found = passing([scored("staterag"), close, scored("vanilla", value=0.9), scored("staterag-typed", value=1.0)])
    assert {each.comparison.system for each in found} <= {"vanilla", "dosrag"}
    assert found[0].comparison.system == "vanilla"
    assert found[0].is_shown
    assert passing([scored("staterag"), scored("vanilla", value=0.1)]) == []
    assert passing([scored("vanilla")]) == []


def test_a_cheaper_method_that_scores_as_well_is_against_the_claim_of_price():
    costly = scored("staterag", value=0.6, ret=900.0)
    assert cheaper(Results([costly, scored("vanilla", value=0.3, ret=100.0)])).outcome is Outcome.HELD
    assert cheaper(Results([costly, scored("vanilla", value=0.7, ret=100.0)])).outcome is Outcome.FAILED
    assert cheaper(Results([costly, scored("vanilla", value=0.7, ret=1000.0)])).outcome is Outcome.UNKNOWN


def test_the_greatest_loss_is_told_by_the_means():
    full = scored("staterag", value=0.9)
    without = {"staterag-without-tam": 0.7, "staterag-without-mars": 0.2, "staterag-without-smp": 0.6}
    tables = [full, *(scored(name, value=value) for name, value in without.items())]
    assert greatest_loss(Results(tables)).outcome is Outcome.BY_MEANS
    tables[2] = scored("staterag-without-mars", value=0.8)
    assert greatest_loss(Results(tables)).outcome is Outcome.FAILED
    assert greatest_loss(Results(tables[:3])).outcome is Outcome.UNKNOWN


def test_one_reader_admitted_against_the_rules_fails_the_claim():
    said = "The reader is admitted by the rules alone"
    [clean] = [each for each in findings([scored("staterag")]) if each.said == said]
    assert clean.outcome is Outcome.HELD
    [broken] = [each for each in findings([scored("staterag", admission_violations=1.0)]) if each.said == said]
    assert broken.outcome is Outcome.FAILED
    assert broken.detail.startswith("40 violations in 40 queries")
