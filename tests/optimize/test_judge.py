"""The metric keeps DSPy's five arguments, and its score does not depend on who is being told."""

from __future__ import annotations

import dspy
import pytest

from metrics.record import QueryRecord
from optimize.prompts.judge import Judge
from programs.errors import InputError
from programs.workloads.query import Reference
from tests.metrics.records import a_record, a_reference

GOLD = dspy.Example(question="Which bird?", position=4).with_inputs("question", "position")


def judge(quality="f1"):
    return Judge(quality, {4: Reference.model_validate(a_reference())})


def predicted(score=0.25, **changes):
    return dspy.Prediction(answer="x", record=QueryRecord.model_validate(a_record(**changes)), score=score)


def test_the_score_is_the_same_with_and_without_a_predictors_name():
    whole = judge()(GOLD, predicted())
    named = judge()(GOLD, predicted(), [], "reader.answer", [])
    assert whole.score == named.score == 0.25
    assert whole.feedback == ""
    assert "A right answer: Brass Heron / heron" in named.feedback
    assert "Score of the query: 0.25 (F1)." in named.feedback


def test_each_predictor_hears_its_own_feedback():
    said = {name: judge()(GOLD, predicted(), None, name).feedback for name in ("reader.answer", "planner.propose")}
    assert "Brass Heron / heron" not in said["planner.propose"]
    assert "No target of yours led to" in said["planner.propose"]


def test_a_candidate_that_was_refused_scores_nothing():
    refused = dspy.Prediction(answer="", record=None, score=0.0)
    assert judge()(GOLD, refused, None, "reader.answer").score == 0.0


def test_scores_add_up_and_compare_as_optimisers_want_them_to():
    low, high = judge()(GOLD, predicted(0.25)), judge()(GOLD, predicted(0.75))
    assert sum([low, high]) == 1.0
    assert high >= 0.75 > low


def test_an_undefined_score_is_no_success():
    assert judge("title_mention").read({}) == 0.0
    assert judge("title_mention").read({"title_mention": 0.5}) == 0.5


@pytest.mark.parametrize("quality", ["ret", "calls", "nonsense", "evidence_records"])
def test_what_is_no_quality_is_refused_with_those_that_are(quality):
    with pytest.raises(InputError, match="title_mention"):
        Judge.of(quality, ())
