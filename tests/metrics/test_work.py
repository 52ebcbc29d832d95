"""Calls by role and phase."""

from __future__ import annotations

import pytest

from metrics.record import Phase
from metrics.scores import ScoreTable
from metrics.work import WorkStep
from tests.metrics.records import a_call, a_record, a_reference, an_incomplete_record


def test_each_role_has_what_its_calls_took_in_each_phase_and_nothing_where_it_was_not_asked():
    first = a_record(calls=[a_call(), a_call(seconds=1.5), a_call("index", role="abstraction"), a_call("reader")])
    second = an_incomplete_record(query_id="q2", calls=[a_call("index"), a_call(role="verifier", completion_tokens=0)])
    table = ScoreTable.collect("staterag", "w", [(first, None), (second, None)])
    assert list(table.work) == [
        WorkStep(Phase.INDEX, "abstraction"),
        WorkStep(Phase.INDEX, "planner"),
        WorkStep(Phase.AUX, "planner"),
        WorkStep(Phase.AUX, "verifier"),
        WorkStep(Phase.READER, "reader"),
    ]
    planner = table.work[WorkStep(Phase.AUX, "planner")]
    assert (planner.calls.tolist(), planner.tokens.tolist(), planner.seconds.tolist()) == ([2, 0], [200, 0], [2.0, 0])
    assert table.work[WorkStep(Phase.AUX, "verifier")].tokens.tolist() == [0, 90]


def test_the_work_of_all_roles_is_the_tokens_of_their_phases():
    table = ScoreTable.collect("staterag", "w", [(a_record(), None), (a_record(query_id="q2"), None)])
    for phase in Phase:
        spent = sum(found.tokens for step, found in table.work.items() if step.phase is phase)
        assert spent == pytest.approx(table.values[f"tokens_{phase.value}"])


def test_the_queries_of_one_type_keep_their_own_work():
    pairs = [
        (a_record(), a_reference()),
        (a_record(query_id="q2", calls=[]), a_reference(query_id="q2", question_type="x")),
    ]
    table = ScoreTable.collect("staterag", "w", pairs)
    assert [found.calls.tolist() for found in table.only("x").work.values()] == [[0], [0], [0]]
