import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from programs.memory.artifacts import (
    PAYLOADS,
    Artifact,
    Kind,
    MemoryScope,
    NotEligible,
    artifact_id,
    is_empty,
    make_artifact,
    sources_of,
)
from programs.state import Role

GOOD = {
    Kind.ABSTRACTION: {"text": "two rivers"},
    Kind.TRACE_SCORE: {"score": 0.0},
    Kind.PLAN: {"query": "who?", "objective": "find who", "targets": ["who"]},
    Kind.SELECTION: {"evidence_ids": ["a#0-4"]},
    Kind.JUSTIFICATION: {"text": "the year is missing"},
}


def make(kind=Kind.ABSTRACTION, payload=None, key="k", scope=MemoryScope.GLOBAL, provenance=("a#0-4",)):
    payload = GOOD[kind] if payload is None else payload
    return make_artifact(kind, key, payload, Role.NAVIGATOR, scope, "q1", provenance)


@pytest.mark.parametrize("kind", list(Kind))
def test_each_kind_keeps_its_payload_as_json_values(kind):
    assert make(kind).payload == GOOD[kind]


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("extra", ["answer", "reference", "label", "prediction", "gold"])
def test_i7_no_payload_has_room_for_an_answer_or_a_label(kind, extra):
    with pytest.raises(NotEligible, match=extra):
        make(kind, {**GOOD[kind], extra: "canary"})


def test_i7_no_kind_and_no_role_stands_for_answers_labels_or_the_reader():
    assert {kind.value for kind in Kind} == {"abstraction", "trace_score", "plan", "selection", "justification"}
    assert "reader" not in {role.value for role in Role}
    assert set(PAYLOADS) == set(Kind)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (Kind.ABSTRACTION, {"text": " \n"}),
        (Kind.ABSTRACTION, {"text": 3}),
        (Kind.ABSTRACTION, {"score": 1.0}),
        (Kind.TRACE_SCORE, {"score": "0.5"}),
        (Kind.TRACE_SCORE, {"score": True}),
        (Kind.TRACE_SCORE, {"score": float("nan")}),
        (Kind.TRACE_SCORE, {"score": float("inf")}),
        (Kind.PLAN, {"query": "", "objective": "o", "targets": ["t"]}),
        (Kind.PLAN, {"query": "q", "objective": "o", "targets": []}),
        (Kind.SELECTION, {"evidence_ids": []}),
        (Kind.SELECTION, {"evidence_ids": [""]}),
        (Kind.JUSTIFICATION, {}),
    ],
)
def test_a_payload_of_another_shape_is_not_eligible(kind, payload):
    with pytest.raises(NotEligible):
        make(kind, payload)


@pytest.mark.parametrize("provenance", [(), ("",), ("a", " ")])
def test_an_artifact_without_provenance_is_not_eligible(provenance):
    with pytest.raises(NotEligible, match="provenance"):
        make(provenance=provenance)


def test_provenance_is_the_query_a_source_or_evidence_of_a_source():
    assert sources_of(("q1", "doc", "doc#3-9", "doc#2#0-4"), "q1", {"doc", "doc#2"}) == ["doc", "doc", "doc#2"]
    for stranger in ("q2", "other", "other#3-9", "doc-2#0-1", "doc#2", "doc#x-9"):
        with pytest.raises(NotEligible, match=stranger):
            sources_of(("q1", stranger), "q1", {"doc"})


def test_a_blank_payload_is_empty_and_a_zero_score_is_not():
    assert is_empty({"text": "  "})
    assert is_empty({"evidence_ids": []})
    assert not is_empty({"score": 0.0})
    assert not is_empty({"text": "x"})


def test_an_artifact_does_not_change_with_the_payload_it_was_made_from():
    payload = {"evidence_ids": ["a#0-4"]}
    artifact = make(Kind.SELECTION, payload, scope=MemoryScope.QUERY)
    payload["evidence_ids"].append("b#0-4")
    assert artifact.payload == {"evidence_ids": ["a#0-4"]}


@pytest.mark.parametrize(
    "change",
    [
        {"artifact_id": "abstraction-0"},
        {"query_id": "q1"},
        {"owner": Role.NAVIGATOR},
        {"scope": MemoryScope.QUERY},
        {"scope": MemoryScope.PRIVATE, "query_id": "q1", "owner": Role.PLANNER},
        {"label": "gold"},
    ],
)
def test_an_artifact_whose_parts_disagree_can_not_be_made(change):
    with pytest.raises(ValidationError):
        Artifact(**{**make().model_dump(), **change})


address = st.tuples(
    st.sampled_from(list(MemoryScope)),
    st.sampled_from(list(Kind)),
    st.text(alphabet="ab|1", max_size=4),
    st.none() | st.text(alphabet="ab|1", min_size=1, max_size=4),
    st.none() | st.sampled_from(list(Role)),
)


@given(address, address)
def test_two_artifacts_share_an_id_only_when_scope_kind_key_query_and_owner_are_the_same(one, other):
    assert (artifact_id(*one) == artifact_id(*other)) == (one == other)
