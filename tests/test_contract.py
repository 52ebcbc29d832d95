"""The contract: what is committed was accepted, and nobody writes another's field."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import pytest

from programs.contract import Reason, Rejection, evidence_id
from programs.state import OWNED_FIELD, EvidenceRecord, NodeType, Role, State, StateField, Verdict, VerdictLabel
from signatures.planner import Plan
from tests.support.worlds import make_world

PLAN = Plan(objective="find the lens", targets=("who ground the lens",))
FAIL = Verdict(label=VerdictLabel.FAIL, justification="the maker is missing")
PASS = Verdict(label=VerdictLabel.PASS, justification="all there")


@pytest.fixture
def world():
    return make_world()


@pytest.fixture
def contract(world):
    return world.contract(world.query())


def trace_to(graph, node):
    trace = [node]
    while trace[0] != graph.root:
        trace.insert(0, graph.parents(trace[0])[0])
    return tuple(trace)


def with_path(world, contract, node=1):
    state = contract.commit(State(), Role.PLANNER, PLAN, 1)
    return contract.commit(state, Role.NAVIGATOR, (trace_to(world.graph, node),), 1)


def reason(outcome) -> Reason:
    assert isinstance(outcome, Rejection)
    return outcome.reason


def test_I1_each_role_commits_its_own_field_and_no_other(world, contract):
    state = with_path(world, contract)
    state = contract.commit(state, Role.RETRIEVER, (world.graph.record(1, 1),), 1)
    before = state.to_dict()
    after = contract.commit(state, Role.VERIFIER, PASS, 1).to_dict()
    assert {k for k in after if after[k] != before[k]} == {"verdict"}
    assert after["plan"]["objective"] == "find the lens"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"objective": "x", "targets": ["y"]}, Reason.WRONG_TYPE),
        (Plan.model_construct(objective="", targets=("a",)), Reason.PLAN_SCHEMA),
        (Plan.model_construct(objective="x", targets=()), Reason.PLAN_SCHEMA),
        (
            type("Plan", (Plan,), {"__annotations__": {"action": str}})(
                objective="x", targets=("a",), action="RELEASE"
            ),
            Reason.WRONG_TYPE,
        ),
        (Plan.model_construct(objective="x" * 10_000, targets=("a",)), Reason.PLAN_SCHEMA),
        (None, Reason.WRONG_TYPE),
    ],
)
def test_I1_a_plan_outside_the_schema_is_rejected(contract, value, expected):
    assert reason(contract.commit(State(), Role.PLANNER, value, 1)) is expected


def test_I1_paths_must_be_completed_typed_and_in_the_graph(world, contract):
    graph = world.graph
    good = trace_to(graph, 1)
    cases = {
        (): Reason.EMPTY,
        (good[1:],): Reason.NOT_FROM_ROOT,
        (good[:-1],): Reason.NOT_AT_EVIDENCE,
        ((*good[:-1], 10_000),): Reason.UNKNOWN_NODE,
        ((good[0], good[-1]),): Reason.NO_SUCH_EDGE,
        ((*good, good[1]),): Reason.NO_SUCH_EDGE,
        (good, good): Reason.REPEATED_TRACE,
        tuple(trace_to(graph, n) for n in (1, 2, 3, 4, 5)): Reason.TOO_MANY_TRACES,
    }
    for path, expected in cases.items():
        assert reason(contract.commit(State(), Role.NAVIGATOR, path, 1)) is expected, path
    assert reason(contract.commit(State(), Role.NAVIGATOR, [good], 1)) is Reason.WRONG_TYPE
    assert reason(contract.commit(State(), Role.NAVIGATOR, ((float(good[0]), *good[1:]),), 1)) is Reason.WRONG_TYPE


def test_I1_an_edge_of_an_inadmissible_type_pair_is_rejected(world, contract, monkeypatch):
    graph = world.graph
    good = trace_to(graph, 1)
    monkeypatch.setattr(
        graph, "node_type", lambda n: NodeType.TOPIC if n == good[2] else type(graph).node_type(graph, n)
    )
    assert reason(contract.commit(State(), Role.NAVIGATOR, (good,), 1)) is Reason.INADMISSIBLE_TYPES


def edited(record: EvidenceRecord, **change) -> EvidenceRecord:
    return EvidenceRecord.model_construct(**{**record.model_dump(), **change})


def test_I6_evidence_whose_text_is_not_the_source_at_its_offsets_is_rejected(world, contract):
    state = with_path(world, contract)
    real = world.graph.record(1, 1)
    cases = [
        ({"text": real.text + "!"}, Reason.TEXT_DIFFERS),
        ({"text": "invented"}, Reason.TEXT_DIFFERS),
        ({"source_id": "nowhere"}, Reason.UNKNOWN_SOURCE),
        ({"start": -1}, Reason.BAD_OFFSETS),
        ({"end": 10**9}, Reason.BAD_OFFSETS),
        ({"start": 5, "end": 5, "text": ""}, Reason.BAD_OFFSETS),
        ({"cycle": 2}, Reason.WRONG_CYCLE),
    ]
    for change, expected in cases:
        outcome = contract.commit(state, Role.RETRIEVER, (edited(real, **change),), 1)
        assert reason(outcome) is expected, change


def test_I6_a_real_span_under_a_borrowed_id_is_rejected(world, contract):
    state = with_path(world, contract)
    real = world.graph.record(1, 1)
    shorter = edited(real, end=real.end - 3, text=real.text[:-3])
    assert reason(contract.commit(state, Role.RETRIEVER, (shorter,), 1)) is Reason.BAD_OFFSETS


def test_I1_evidence_outside_the_committed_region_repeated_or_over_the_cap_is_rejected(world, contract):
    state = with_path(world, contract)
    graph = world.graph
    inside = graph.region(1)
    outside = next(n for n in graph.evidence_nodes if n not in inside)
    one = graph.record(1, 1)
    assert reason(contract.commit(state, Role.RETRIEVER, (graph.record(outside, 1),), 1)) is Reason.OUTSIDE_REGION
    assert reason(contract.commit(state, Role.RETRIEVER, (one, one), 1)) is Reason.REPEATED_EVIDENCE
    assert reason(contract.commit(state, Role.RETRIEVER, (), 1)) is Reason.EMPTY
    assert reason(contract.commit(state, Role.RETRIEVER, (one,) * 6, 1)) is Reason.OVER_CAP
    assert reason(contract.commit(state, Role.RETRIEVER, [one], 1)) is Reason.WRONG_TYPE


def test_carried_evidence_keeps_its_cycle_and_strict_mode_turns_it_off(world):
    for carry in (True, False):
        memory = world.query()
        limits = world.settings.limits(4).model_copy(update={"carry": carry})
        contract = type(world.contract(memory))(world.graph, world.collection.texts, limits, memory.readable)
        graph = world.graph
        first = graph.record(1, 1)
        state = contract.commit(with_path(world, contract), Role.RETRIEVER, (first,), 1)
        far = next(n for n in graph.evidence_nodes if 1 not in graph.region(n))
        state = contract.commit(contract.open_cycle(state), Role.NAVIGATOR, (trace_to(graph, far),), 2)
        outcome = contract.commit(state, Role.RETRIEVER, (graph.record(far, 2), first), 2)
        if carry:
            assert [r.cycle for r in outcome.evidence] == [2, 1]
        else:
            assert reason(outcome) is Reason.WRONG_CYCLE


def test_I1_a_verdict_is_pass_or_fail_and_a_fail_says_what_is_missing(contract):
    pending = Verdict(label=VerdictLabel.PENDING)
    mute = Verdict(label=VerdictLabel.FAIL, justification="  ")
    assert reason(contract.commit(State(), Role.VERIFIER, pending, 1)) is Reason.VERDICT_LABEL
    assert reason(contract.commit(State(), Role.VERIFIER, mute, 1)) is Reason.NO_JUSTIFICATION
    assert reason(contract.commit(State(), Role.VERIFIER, "PASS", 1)) is Reason.WRONG_TYPE
    assert contract.commit(State(), Role.VERIFIER, FAIL, 1).verdict == FAIL


def test_I1_artifacts_must_resolve_in_a_scope_this_query_may_read(contract):
    assert reason(contract.commit(State(), Role.SMP, ("made-up",), 0)) is Reason.UNKNOWN_ARTIFACT
    assert contract.commit(State(), Role.SMP, (), 0).artifacts == ()


def test_I2_a_value_for_another_roles_field_is_rejected_whoever_offers_it(world, contract):
    good = {
        StateField.PLAN: PLAN,
        StateField.PATH: (trace_to(world.graph, 1),),
        StateField.EVIDENCE: (world.graph.record(1, 1),),
        StateField.VERDICT: PASS,
    }
    for role, owned in OWNED_FIELD.items():
        for field, value in good.items():
            if field is not owned:
                outcome = contract.commit(State(), role, value, 1)
                assert isinstance(outcome, Rejection), (role, field)
                assert outcome.field is owned


def test_I2_a_state_can_not_be_written_copied_into_or_pickled():
    state = State()
    with pytest.raises(AttributeError, match="immutable"):
        state.plan = PLAN
    with pytest.raises(AttributeError, match="immutable"):
        del state.plan
    with pytest.raises(AttributeError):
        state.note = "extra"
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(state)


def test_I2_only_the_contract_can_make_a_successor_state():
    root = Path(__file__).parents[1]
    users = {
        path.relative_to(root).as_posix()
        for folder in ("programs", "signatures", "optimize", "metrics")
        for path in (root / folder).rglob("*.py")
        if any(
            isinstance(n, ast.Name | ast.alias | ast.Attribute) and "_successor" in ast.dump(n)
            for n in ast.walk(ast.parse(path.read_text()))
        )
    }
    assert users == {"programs/contract.py"}


def test_a_rejection_keeps_the_offending_value_as_data(world, contract):
    outcome = contract.commit(State(), Role.NAVIGATOR, ((0, 999),), 1)
    assert outcome.value == [[0, 999]]
    assert "999" in outcome.detail
    assert outcome.model_dump_json()
    hostile = contract.commit(State(), Role.PLANNER, {"nan": float("nan"), "x": object()}, 1)
    assert hostile.model_dump_json()


@pytest.mark.parametrize("label", ["PASS", "FAIL"])
def test_I1_a_verdict_made_without_its_checks_is_not_taken_at_its_word(contract, label):
    forged = Verdict.model_construct(label=label, justification="enough")
    outcome = contract.commit(State(), Role.VERIFIER, forged, 1)
    assert isinstance(outcome, Rejection)
    assert outcome.reason is Reason.VERDICT_LABEL


@pytest.mark.parametrize("field", ["evidence_id", "source_id", "start", "end", "text", "cycle"])
@pytest.mark.parametrize("odd", [1.5, None, ["a"], True, "\ud800", 10**40], ids=repr)
def test_I1_evidence_with_a_member_of_another_type_is_a_rejection_and_never_an_exception(contract, field, odd):
    record = EvidenceRecord(evidence_id="a#0-3", source_id="a", start=0, end=3, text="abc", cycle=1)
    forged = EvidenceRecord.model_construct(**{**dict(record), field: odd})
    outcome = contract.commit(State(), Role.RETRIEVER, (forged,), 1)
    assert isinstance(outcome, Rejection)
    assert outcome.model_dump_json()


def part_of(whole: EvidenceRecord, start: int, end: int, **change) -> EvidenceRecord:
    text = whole.text[start - whole.start : end - whole.start]
    name = evidence_id(whole.source_id, start, end)
    given = {"evidence_id": name, "start": start, "end": end, "text": text, "region": whole.evidence_id}
    return edited(whole, **(given | change))


def test_the_parts_of_a_region_are_committed_like_evidence_and_count_as_one(world, contract):
    state, whole = with_path(world, contract), world.graph.record(1, 1)
    parts = tuple(part_of(whole, whole.start + i, whole.start + i + 3) for i in range(8))
    assert contract.commit(state, Role.RETRIEVER, parts, 1).evidence == parts


def test_I1_I6_a_part_that_is_not_in_its_region_is_rejected(world, contract):
    state, whole = with_path(world, contract), world.graph.record(1, 1)
    outside = next(n for n in world.graph.evidence_nodes if n not in world.graph.region(1))
    far = world.graph.record(outside, 1)
    good = part_of(whole, whole.start, whole.start + 5)
    cases = [
        (edited(good, region=far.evidence_id), Reason.OUTSIDE_REGION),
        (edited(good, region="nowhere"), Reason.OUTSIDE_REGION),
        (edited(good, region=good.evidence_id), Reason.OUTSIDE_REGION),
        (part_of(far, far.start, far.start + 5, region=whole.evidence_id), Reason.OUTSIDE_REGION),
        (edited(good, text="other"), Reason.TEXT_DIFFERS),
        (edited(good, region=3), Reason.WRONG_TYPE),
        (edited(good, evidence_id=whole.evidence_id), Reason.BAD_OFFSETS),
    ]
    for proposed, expected in cases:
        assert reason(contract.commit(state, Role.RETRIEVER, (proposed,), 1)) is expected, proposed
