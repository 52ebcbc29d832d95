"""Hostile proposals against the carrier and the controller: no bad commit, never a second reader call."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from programs.carriers.typed import TypedCarrier
from programs.contract import Rejection
from programs.controller import Controller
from programs.models.ledger import Ledger
from programs.state import OWNED_FIELD, Action, EvidenceRecord, Role, StateField, Verdict, VerdictLabel
from programs.transcript import Transcript
from signatures.planner import Plan
from tests.support import hostile
from tests.support.worlds import ROLE_ORDER, CountingReader, Heard, Says, make_world

WORLD = make_world()
SOURCES = WORLD.collection.texts
PROPOSALS = {
    Role.PLANNER: hostile.plans(),
    Role.NAVIGATOR: hostile.paths(WORLD.graph),
    Role.RETRIEVER: hostile.evidences(WORLD.graph),
    Role.VERIFIER: hostile.verdicts(),
    Role.SMP: hostile.artifacts(),
}


class CarrierMachine(RuleBasedStateMachine):
    """Any role, any value, in any order, at any cycle."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = WORLD.query()
        self.carrier = TypedCarrier(WORLD.contract(self.memory))
        self.kept: dict[str, object] = {}

    @rule(role=st.sampled_from(list(Role)), data=st.data(), cycle=st.integers(1, 2))
    def propose(self, role, data, cycle):
        before = self.carrier.state
        value = data.draw(st.one_of(PROPOSALS[role], *PROPOSALS.values()))
        outcome = self.carrier.commit(role, value, cycle)
        after = self.carrier.state
        changed = {f for f in StateField if getattr(before, f) != getattr(after, f)}
        if isinstance(outcome, Rejection):
            assert after is before
            outcome.model_dump_json()
        else:
            assert changed <= {OWNED_FIELD[role]}
            for record in after.evidence:
                self.kept.setdefault(record.evidence_id, record)

    @rule()
    def open_cycle(self):
        self.carrier.open_cycle()
        assert self.carrier.state.verdict.label is VerdictLabel.PENDING

    @invariant()
    def holds_only_accepted_values(self):
        state = self.carrier.state
        assert state.plan is None or (type(state.plan) is Plan and state.plan.objective.strip() and state.plan.targets)
        assert state.path == () or hostile.good_path(WORLD.graph, state.path)
        for record in state.evidence:
            assert SOURCES[record.source_id][record.start : record.end] == record.text
        assert type(state.verdict) is Verdict
        assert state.verdict.label is not VerdictLabel.FAIL or state.verdict.justification.strip()
        assert all(self.memory.readable(item) for item in state.artifacts)


CarrierMachine.TestCase.settings = settings(
    max_examples=400, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
test_I1_I2_carrier_under_any_sequence_of_proposals = CarrierMachine.TestCase


def good_turn(role: Role, cycle: int):
    """A proposal that is valid where it stands, so that later stages are reached."""
    graph = WORLD.graph
    if role is Role.PLANNER:
        return Plan(objective="find it", targets=("the lens",))
    if role is Role.NAVIGATOR:
        return lambda view: (next(t for t in all_traces(graph)),)
    if role is Role.RETRIEVER:
        return lambda view: tuple(graph.record(n, view.cycle) for n in graph.region(view.state.path[0][-1])[:3])
    return Verdict(label=VerdictLabel.FAIL, justification="more")


def all_traces(graph, trace=(0,)):
    children = graph.children(trace[-1])
    if not children:
        yield trace
    for child in children:
        yield from all_traces(graph, (*trace, child))


@st.composite
def scripts(draw):
    """Eight turns (two cycles), each good or hostile."""
    return [
        draw(st.one_of(st.just(good_turn(role, cycle)), st.just(good_turn(role, cycle)), PROPOSALS[role]))
        for cycle in (1, 2)
        for role in ROLE_ORDER
    ]


@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=scripts())
def test_I1_I3_I6_I10_controller_under_hostile_proposals(turns):
    heard, transcript = Heard(), Transcript()
    operators = {role: Says([turns[i], turns[i + 4]]) for i, role in enumerate(ROLE_ORDER)}
    with WORLD.query() as memory:
        contract = WORLD.contract(memory)
        carrier = TypedCarrier(contract)
        tools = WORLD.tools(memory, Ledger("q"))
        Controller(operators, CountingReader(heard)).run(
            "where is the lens?", tools, memory, contract, carrier, transcript
        )

    assert len(heard.calls) <= 1
    assert (len(heard.calls) == 1) == (transcript.action in (Action.BYPASS, Action.RELEASE, Action.FALLBACK))
    assert (transcript.status == "completed") == (len(heard.calls) == 1)
    assert (transcript.status == "incomplete") == bool(transcript.rejections)
    check_commits(transcript)
    verdicts = [commit.value["label"] for commit in transcript.states if commit.field is StateField.VERDICT]
    expected = [
        Action.RELEASE if v == "PASS" else Action.REVISE if i == 0 else Action.FALLBACK for i, v in enumerate(verdicts)
    ]
    assert transcript.actions == expected
    for record in transcript.evidence:
        assert SOURCES[record.source_id][record.start : record.end] == record.text


def check_commits(transcript: Transcript) -> None:
    """Judge every commit again, by the oracle."""
    path: object = ()
    committed: set[str] = set()
    for commit in transcript.states:
        if commit.field is StateField.PATH:
            path = tuple(tuple(trace) for trace in commit.value)
            assert hostile.good_path(WORLD.graph, path)
        if commit.field is StateField.EVIDENCE:
            records = [EvidenceRecord(**item) for item in commit.value]
            fresh = [r for r in records if not (r.evidence_id in committed and r.cycle < commit.cycle)]
            cap = 5 if commit.cycle == 1 else 7
            assert len(records) <= cap
            assert not fresh or hostile.good_evidence(WORLD.graph, SOURCES, path, fresh, cap)
            committed |= {r.evidence_id for r in records}
        if commit.field is StateField.VERDICT:
            assert commit.value["label"] in ("PASS", "FAIL")
