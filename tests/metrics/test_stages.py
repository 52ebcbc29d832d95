"""What a record says of each stage, and what evidence bears."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.record import Address
from metrics.stages import address, borne, stages_of, trace_ends
from tests.metrics.records import a_baseline_record, a_commit, a_passage, a_record, a_reference, an_evidence


def considered(role, *ids, cycle=1):
    return {"cycle": cycle, "role": role, "evidence_ids": list(ids)}


@given(st.text(min_size=1), st.integers(0, 10**9), st.integers(0, 10**9))
def test_an_evidence_id_gives_its_address_back_whatever_the_source_is_called(source, start, end):
    assert address(f"{source}#{start}-{end}") == Address(source_id=source, start=start, end=end)


@pytest.mark.parametrize("name", ["", "birds", "#1-2", "birds#1", "birds#1-2x", "birds#-1-2"])
def test_what_names_no_characters_is_no_evidence_id(name):
    with pytest.raises(ValueError, match="no evidence id"):
        address(name)


def test_a_passage_is_borne_by_half_of_it_or_by_its_title_line():
    reference = a_reference(passages=[[a_passage("Heron", 0, 40)]])
    title, most = an_evidence(text="Heron"), an_evidence(start=10, text="x" * 25)
    assert borne([title], reference, "half") == (False,)
    assert borne([title], reference, "title") == (True,)
    assert borne([most], reference, "half") == (True,)
    assert borne([most], reference, "title") == (False,)


def test_two_records_may_bear_a_passage_together():
    reference = a_reference(passages=[[a_passage("Heron", 0, 40)]])
    halves = [an_evidence(text="x" * 10), an_evidence(start=20, text="x" * 10)]
    assert [borne([half], reference, "half") for half in halves] == [(False,), (False,)]
    assert borne(halves, reference, "half") == (True,)


def test_without_passages_a_source_is_borne_by_any_of_its_text():
    reference = a_reference(passages=[], supporting=["birds", "rivers"])
    for rule in ("half", "title"):
        assert borne([an_evidence("rivers", 500, "x")], reference, rule) == (False, True)


def test_a_method_without_a_state_tells_only_what_it_admitted():
    assert list(stages_of(a_baseline_record())) == ["admitted"]


def test_a_record_of_before_roles_said_what_they_considered_begins_at_what_was_kept():
    assert list(stages_of(a_record(considered=[]))) == ["kept", "carried", "admitted"]


def test_a_release_carries_the_last_cycle_and_a_fallback_all_of_them():
    first, second = an_evidence("birds"), an_evidence("rivers")
    states = [a_commit("evidence", [first]), a_commit("evidence", [second], cycle=2)]
    released = stages_of(a_record(states=states, action="RELEASE"))
    merged = stages_of(a_record(states=states, action="FALLBACK"))
    assert released["kept"] == merged["kept"] == merged["carried"] == [first, second]
    assert released["carried"] == (second,)


def test_traces_end_at_the_first_that_the_navigator_considered_in_a_cycle_whose_path_was_committed():
    record = a_record(
        states=[a_commit("path", [[0, 9, 4], [0, 8, 2]]), a_commit("path", [[0, 9, 4], [0, 8, 4]], cycle=2)],
        considered=[
            considered("navigator", "a#0-1", "b#0-1", "c#0-1"),
            considered("retriever", "r#0-1"),
            considered("navigator", "d#0-1", "e#0-1", cycle=2),
            considered("navigator", "f#0-1", cycle=3),
        ],
    )
    assert [item.source_id for item in trace_ends(record)] == ["a", "b", "d"]
