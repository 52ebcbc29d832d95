"""Verdicts against sufficiency."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.sufficiency import Agreement, AnswerMeans, JudgedVerdict

VERDICTS = st.lists(st.builds(JudgedVerdict, st.integers(1, 3), st.sampled_from(["PASS", "FAIL"]), st.booleans()))


def agreement(*verdicts):
    return Agreement(Counter(verdicts))


def test_each_way_of_being_right_or_wrong_is_counted_by_itself():
    found = agreement(
        *[JudgedVerdict(1, "PASS", True)] * 3,
        *[JudgedVerdict(1, "PASS", False)] * 2,
        JudgedVerdict(2, "FAIL", True),
        *[JudgedVerdict(2, "FAIL", False)] * 4,
    )
    counts = {(label, enough): found.count(label, enough) for label in ("PASS", "FAIL") for enough in (True, False)}
    assert counts == {("PASS", True): 3, ("PASS", False): 2, ("FAIL", True): 1, ("FAIL", False): 4}
    assert found.count() == 10
    assert found.accuracy == pytest.approx(0.7)
    assert found.balanced_accuracy == pytest.approx((3 / 4 + 4 / 6) / 2)
    assert (found.cycles, found.of_cycle(1).count()) == ([1, 2], 5)


def test_always_the_same_verdict_is_worth_one_half_however_often_evidence_suffices():
    found = agreement(*[JudgedVerdict(1, "PASS", True)] * 9, JudgedVerdict(1, "PASS", False))
    assert (found.accuracy, found.balanced_accuracy) == (0.9, 0.5)


def test_without_both_kinds_of_evidence_there_is_no_balance():
    assert math.isnan(agreement(JudgedVerdict(1, "PASS", True)).balanced_accuracy)
    assert math.isnan(agreement().accuracy)


@given(VERDICTS)
def test_cycles_part_the_verdicts_and_turning_them_all_around_turns_the_measures_around(verdicts):
    found = agreement(*verdicts)
    assert sum(found.of_cycle(cycle).count() for cycle in found.cycles) == found.count() == len(verdicts)
    other = {"PASS": "FAIL", "FAIL": "PASS"}
    turned = agreement(*(verdict._replace(label=other[verdict.label]) for verdict in verdicts))
    for name in ("accuracy", "balanced_accuracy"):
        assert getattr(turned, name) == pytest.approx(1 - getattr(found, name), nan_ok=True)


def test_answers_are_averaged_and_no_answer_has_no_mean():
    means = AnswerMeans()
    assert math.isnan(means.mean("f1"))
    means.add({"f1": 0.25})
    means.add({"f1": 0.75})
    assert (means.n, means.mean("f1")) == (2, 0.5)
