"""Why queries stayed incomplete: counted by what they have in common, and shown as text."""

from __future__ import annotations

from programs.report.incompletes import incomplete_lines
from tests.metrics.records import a_baseline_record, a_record, a_rejection, an_incomplete_record


def incomplete(query_id: str, reason: str = "malformed", detail: str = "no JSON"):
    return an_incomplete_record(query_id=query_id, rejections=[a_rejection(reason) | {"detail": detail}])


def failed(query_id: str, error: str | None, method: str = "vanilla"):
    return a_baseline_record(query_id=query_id, method=method, status="incomplete", answer="", error=error)


def test_methods_without_incomplete_queries_have_no_line():
    assert incomplete_lines([a_record()]) == []
    assert incomplete_lines([]) == []


def test_one_reason_is_told_with_the_first_query_that_has_it():
    lines = incomplete_lines([a_record(query_id="q0"), incomplete("q1"), incomplete("q2", detail="other")])
    assert lines == [
        "staterag: 2 of 3 queries incomplete, because the planner's plan was rejected (malformed); q1: no JSON"
    ]


def test_of_several_reasons_the_commonest_is_told():
    [line] = incomplete_lines([incomplete("q0", "empty"), incomplete("q1"), incomplete("q2")])
    assert "3 of 3 queries incomplete, most often, 2 times, because the planner's plan was rejected (malf" in line


def test_errors_of_one_kind_are_one_reason_whatever_they_say():
    [line] = incomplete_lines([failed(f"q{at}", f"LMTransportError: refused after {at} s") for at in range(3)])
    assert line == "vanilla: 3 of 3 queries incomplete, because of LMTransportError; q0: refused after 0 s"


def test_an_error_without_a_kind_is_told_as_it_stands():
    [line] = incomplete_lines([failed("q0", "no evidence was found")])
    assert line == "vanilla: 1 of 1 queries incomplete, because no evidence was found; q0"
    assert "because nothing was recorded" in incomplete_lines([failed("q0", None)])[0]


def test_each_method_has_its_line_and_control_characters_are_shown():
    lines = incomplete_lines([failed("q\x1b[2J", "Error: \x1b[31m" + "x" * 900), failed("q0", "Error: y", "react")])
    assert len(lines) == 2
    assert not any("\x1b" in line or len(line) > 400 for line in lines)
