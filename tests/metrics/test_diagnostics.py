"""Diagnostics: each rule of reader admission can be broken alone, and is then named alone."""

import pytest

from metrics.diagnostics import admission_violations, context_truncations, diagnostic_scores, parse_failures
from tests.metrics.records import (
    a_baseline_record,
    a_call,
    a_commit,
    a_record,
    a_rejection,
    a_verdict,
    an_evidence,
    an_incomplete_record,
    changed,
)

OVERFLOW = "ContextOverflow: 9000 tokens where 8192 fit"
FIRST, SECOND = an_evidence(start=0), an_evidence(start=100)
FELL_BACK = a_record(
    action="FALLBACK",
    cycles=2,
    evidence=[FIRST, SECOND],
    states=[a_commit("evidence", [FIRST]), a_verdict("FAIL"), a_commit("evidence", [SECOND], 2), a_verdict("FAIL", 2)],
)
BYPASSED = a_record(action="BYPASS", cycles=0, states=[a_commit("artifacts", [], 0)])
READER_FAILED = a_record(status="incomplete", answer="", calls=[a_call("reader", error="TransportFault: refused")])


@pytest.mark.parametrize(
    "record",
    [a_record(), FELL_BACK, BYPASSED, READER_FAILED, a_baseline_record(), an_incomplete_record()],
    ids=["released", "fallback", "bypass", "the reader's server failed", "baseline", "incomplete"],
)
def test_a_query_that_keeps_the_rules_has_no_violation(record):
    assert admission_violations(record) == ()


def test_a_run_that_asks_no_reader_has_no_violation():
    assert admission_violations(a_record(answer="", calls=[a_call()])) == ()


@pytest.mark.parametrize(
    ("record", "violation"),
    [
        (a_record(calls=[a_call("reader"), a_call("reader")]), "reader_called_again"),
        (a_baseline_record(calls=[a_call("reader"), a_call("reader")]), "reader_called_again"),
        (a_record(status="incomplete"), "reader_answered_an_incomplete_query"),
        (a_baseline_record(status="incomplete"), "reader_answered_an_incomplete_query"),
        (a_baseline_record(evidence=[FIRST, SECOND, FIRST]), "repeated_evidence"),
        (a_record(action=None), "reader_without_terminal_action"),
        (a_record(action="REVISE"), "reader_without_terminal_action"),
        (a_record(action=None, states=[]), "reader_without_terminal_action"),
        (a_record(rejections=[a_rejection("empty")]), "reader_after_rejection"),
        (a_record(states=[a_verdict("PASS"), a_verdict("FAIL", 2)]), "action_against_verdict"),
        (changed(FELL_BACK, states=[a_verdict("PASS")]), "action_against_verdict"),
        (changed(BYPASSED, cycles=1), "action_against_verdict"),
        (changed(a_record(), evidence=[SECOND]), "uncommitted_evidence"),
        (
            changed(FELL_BACK, action="RELEASE", states=[*FELL_BACK.states, a_verdict("PASS", 3)]),
            "uncommitted_evidence",
        ),
    ],
)
def test_each_broken_rule_is_named(record, violation):
    assert admission_violations(record) == (violation,)
    assert diagnostic_scores(record)["admission_violations"] == 1


def test_a_free_form_carrier_is_judged_without_typed_commits():
    said = [a_commit("evidence", "I keep the first."), a_commit("verdict", "Looks fine. PASS")]
    assert admission_violations(a_record(method="staterag-free-form", states=said)) == ()
    broken = a_record(method="staterag-free-form", states=said, action=None)
    assert admission_violations(broken) == ("reader_without_terminal_action",)


@pytest.mark.parametrize("method", ["staterag-without-tam", "staterag-without-smp"])
def test_a_variant_under_a_controller_is_judged_as_staterag_is(method):
    assert admission_violations(a_record(method=method)) == ()
    bare = a_record(method=method, action=None, states=[], cycles=0)
    assert admission_violations(bare) == ("reader_without_terminal_action",)


def test_the_variant_without_mars_has_no_controller_and_is_judged_as_a_baseline_is():
    one_pass = a_record(method="staterag-without-mars", action=None, states=[], cycles=0)
    assert admission_violations(one_pass) == ()
    assert admission_violations(changed(one_pass, evidence=[FIRST, FIRST])) == ("repeated_evidence",)


def test_parse_failures_are_a_baselines_own_count_or_the_unreadable_rejections_of_roles():
    rejections = [a_rejection(reason) for reason in ("malformed", "truncated", "over_cap", "malformed")]
    assert parse_failures(a_baseline_record(parse_failures=4)) == 4
    assert parse_failures(a_record(rejections=rejections, parse_failures=3)) == 3
    assert parse_failures(a_record(rejections=rejections, parse_failures=0)) == 3


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (a_record(), 0),
        (a_record(calls=[a_call(truncated=True, finish_reason="length")]), 0),
        (a_record(calls=[a_call(error="TransportFault: refused")]), 0),
        (a_record(calls=[a_call("index", error=OVERFLOW), a_call("reader", error=OVERFLOW)]), 2),
        (an_incomplete_record(rejections=[a_rejection("over_context")], calls=[a_call(error=OVERFLOW)]), 1),
        (an_incomplete_record(rejections=[a_rejection("over_context")], calls=[]), 1),
    ],
)
def test_a_context_truncation_is_a_prompt_that_did_not_fit_and_is_counted_once(record, expected):
    assert context_truncations(record) == expected


def test_diagnostics_of_a_query():
    record = a_record(
        cycles=2,
        calls=[a_call("index"), a_call(transport_retries=2, truncated=True), a_call("reader", transport_retries=1)],
    )
    assert diagnostic_scores(record) == {
        "incomplete": 0,
        "parse_failures": 0,
        "truncations": 0,
        "cut_completions": 1,
        "admission_violations": 0,
        "rejections": 0,
        "cycles": 2,
        "calls": 3,
        "reader_calls": 1,
        "reached_reader": 1,
        "transport_retries": 3,
        "evidence_records": 1,
    }


def test_diagnostics_of_an_incomplete_query():
    scores = diagnostic_scores(an_incomplete_record())
    assert (scores["incomplete"], scores["parse_failures"], scores["rejections"]) == (1, 1, 1)
    assert (scores["reader_calls"], scores["reached_reader"], scores["calls"]) == (0, 0, 2)
