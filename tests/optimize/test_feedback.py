"""What roles are told about a query: rejections with their reason, lost gold by title, and wrong verdicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.prompts.feedback import ROLES, feedback
from tests.metrics.records import (
    a_baseline_record,
    a_commit,
    a_passage,
    a_record,
    a_reference,
    a_verdict,
    an_evidence,
    an_incomplete_record,
)

HERON, FERRY = "birds#0-15", "birds#40-60"
REFERENCE = a_reference()
SCORED = "Score of the query: 0.50."


def considered(role, *ids, cycle=1):
    return {"cycle": cycle, "role": role, "evidence_ids": list(ids)}


def told(predictor, record, reference=REFERENCE):
    return feedback(predictor, record, reference, SCORED)


def test_a_rejected_proposal_is_told_with_its_reason_its_detail_and_what_was_written():
    rejection = {
        "role": "planner",
        "field": "plan",
        "cycle": 2,
        "reason": "malformed",
        "detail": "targets: field required",
        "value": None,
        "completion": '{"objective": "x"}',
    }
    said = told("planner.propose", an_incomplete_record(rejections=[rejection]))
    assert "Cycle 2: your proposal was rejected (malformed): targets: field required" in said
    assert 'What you had written: {"objective": "x"}' in said
    assert "The query ended at the planner: malformed." in said


def test_a_rejection_of_another_role_is_told_as_the_end_of_the_query_alone():
    said = told("retriever.select", an_incomplete_record())
    assert "your proposal was rejected" not in said
    assert "The query ended at the planner: malformed." in said


def test_the_planner_is_told_which_supporting_titles_no_target_led_to():
    said = told("planner.propose", a_record(considered=[considered("navigator", HERON)]))
    assert "No target of yours led to: The Ferry." in said
    assert "Your targets led to: The Brass Heron." in said


def test_the_navigator_is_told_what_it_scored_and_left_and_what_it_never_scored():
    record = a_record(considered=[considered("navigator", HERON, "birds#200-300"), considered("retriever", FERRY)])
    said = told("navigator.score", record)
    assert "never among the traces that you scored: The Ferry." in said
    assert "left behind for other traces: The Brass Heron." in said


def test_the_retriever_is_told_what_it_dropped_and_what_it_never_had():
    record = a_record(
        evidence=[an_evidence("birds", 40, "The Ferry crosses at six")],
        considered=[considered("retriever", HERON, FERRY)],
    )
    said = told("retriever.select", record)
    assert "among your candidates, and not selected: The Brass Heron." in said
    assert "selected by you: The Ferry." in said
    never = told("retriever.select", a_record(considered=[considered("retriever", HERON)]))
    assert "never among your candidates: The Ferry." in never


@pytest.mark.parametrize(
    ("evidence", "label", "expected"),
    [
        ([HERON], "PASS", "Cycle 1: PASS was wrong, for the evidence lacks: The Ferry."),
        ([HERON, FERRY], "FAIL", "Cycle 1: FAIL was wrong, for all that is needed was there."),
        ([HERON], "FAIL", "Cycle 1: FAIL was right."),
        ([HERON, FERRY], "PASS", "Cycle 1: PASS was right."),
    ],
)
def test_the_verifier_is_told_whether_each_verdict_was_right(evidence, label, expected):
    held = {HERON: an_evidence(text="x" * 15), FERRY: an_evidence("birds", 40, "y" * 20)}
    records = [held[name] for name in evidence]
    record = a_record(evidence=records, states=[a_commit("evidence", records), a_verdict(label)])
    assert expected in told("verifier.judge", record)


def test_the_reader_is_told_the_right_answers_its_own_and_what_the_evidence_lacked():
    said = told("reader.answer", a_record(answer="the pelican"))
    assert "A right answer: Brass Heron / heron" in said
    assert "Your answer: the pelican" in said
    assert "The evidence lacked: The Ferry." in said


def test_a_part_of_a_baseline_is_told_what_the_evidence_lacked_and_what_could_not_be_read():
    said = told("act", a_baseline_record(parse_failures=3))
    assert "missing from the evidence at the end: The Ferry." in said
    assert "3 completions of this query could not be read" in said


def test_a_reference_without_passages_is_spoken_of_by_its_sources():
    said = told("planner.propose", a_record(), a_reference(passages=[]))
    assert "No target of yours led to: birds; rivers." in said


def test_a_title_that_no_source_has_is_said_to_be_missing():
    said = told("reader.answer", a_record(), a_reference(passages=[[a_passage("The Brass Heron")], []]))
    assert "The evidence lacked: a title that no source has." in said


@given(
    role=st.sampled_from([*(f"{role}.x" for role in ROLES), "act", "extract.first"]),
    scored=st.sets(st.sampled_from([HERON, FERRY, "rivers#0-9"])),
    shown=st.sets(st.sampled_from([HERON, FERRY, "rivers#0-9"])),
    complete=st.booleans(),
)
def test_every_role_hears_the_score_and_no_title_is_both_there_and_missing(role, scored, shown, complete):
    given_up = considered("navigator", *sorted(scored)), considered("retriever", *sorted(shown))
    record = (a_record if complete else an_incomplete_record)(considered=list(given_up))
    said = told(role, record).splitlines()
    assert said[-1] == SCORED
    if role == "planner.x":
        for name, title in ((HERON, "The Brass Heron"), (FERRY, "The Ferry")):
            lines = [line for line in said if title in line]
            assert lines == [line for line in lines if line.startswith("Your") == (name in scored | shown)]
            assert len(lines) == 1
