"""SlicedQuestions in slices, and when a trial is given up after one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.development import workload_of
from optimize.parameters.trial import FEWEST, SlicedQuestions, expected, is_beaten
from tests.optimize.parameter_world import make_examples, make_trial

N = 60
questions = SlicedQuestions.sliced(make_examples(N), 3)


@given(count=st.integers(1, 50), workloads=st.integers(1, 3), slices=st.integers(1, 5))
def test_every_question_is_in_one_slice_and_each_slice_has_its_part_of_every_workload(count, workloads, slices):
    examples = make_examples(count, tuple("abc"[:workloads]))
    found = SlicedQuestions.sliced(examples, slices)
    parts = found.slices()
    assert sorted(e.query.position for part in parts for e in part) == list(range(count))
    assert [e for part in parts for e in part] == list(found.examples)
    assert found.ends[-1] == len(found) == count
    for name in "abc"[:workloads]:
        counts = [sum(workload_of(e) == name for e in part) for part in parts]
        assert max(counts) - min(counts) <= 1


def test_the_mean_is_over_workloads():
    found = SlicedQuestions.sliced(make_examples(6, ("a", "b", "b")), 1)
    values = [1.0 if workload_of(e) == "a" else 0.25 for e in found.examples]
    assert found.mean(values) == pytest.approx(0.625)
    assert found.means(values) == {"a": 1.0, "b": 0.25}
    assert math.isnan(found.mean([]))


def test_a_trial_that_is_worse_on_most_questions_is_given_up():
    pick = make_trial(0, [1.0] * N, [1.0] * N)
    assert is_beaten([0.0, 0.5] * 10, pick, questions)


@pytest.mark.parametrize("quality", [[1.0] * 20, [0.5] * 20])
def test_one_that_is_as_good_or_better_is_not(quality):
    assert not is_beaten(quality, make_trial(0, [0.5] * N, [1.0] * N), questions)


def test_one_that_is_worse_by_chance_alone_is_not():
    pick = make_trial(0, [1.0, 0.0] * (N // 2), [1.0] * N)
    mixed = [0.0, 1.0] * 9 + [0.0, 0.0]
    assert np.mean(mixed) < 0.5
    assert not is_beaten(mixed, pick, questions)


def test_a_few_questions_are_not_enough_to_give_a_trial_up():
    pick = make_trial(0, [1.0] * N, [1.0] * N)
    assert not is_beaten([0.0] * (FEWEST - 1), pick, questions)
    assert is_beaten([0.0] * FEWEST, pick, questions)


def test_it_is_compared_on_the_questions_that_it_was_asked():
    hard, easy = [0.2] * 20, [1.0] * 40
    pick = make_trial(0, hard + easy, [1.0] * N)
    assert not is_beaten([0.2] * 20, pick, questions)


def test_questions_of_one_document_give_nothing_to_judge_by():
    one_document = SlicedQuestions.sliced(make_examples(N, cluster="paper"), 3)
    pick = make_trial(0, [1.0] * N, [1.0] * N)
    assert not is_beaten([0.0] * 20, pick, one_document)


def test_a_finished_trial_is_told_as_it_is():
    preset = make_trial(0, [0.5] * N, [9.0] * N)
    trial = make_trial(1, [0.75] * N, [4.0] * N)
    assert expected(trial, preset, questions) == (0.75, 4.0)


def test_a_trial_that_was_given_up_is_told_as_what_it_would_have_come_to():
    hard_then_easy = [0.0] * 20 + [1.0] * 40
    dear_then_cheap = [90.0] * 20 + [30.0] * 40
    preset = make_trial(0, hard_then_easy, dear_then_cheap)
    given_up = make_trial(1, [0.1] * 20, [95.0] * 20, state="pruned")
    quality, cost = expected(given_up, preset, questions)
    assert quality == pytest.approx(2 / 3 + 0.1)
    assert cost == pytest.approx(50 + 5)
