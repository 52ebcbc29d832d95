"""What every carrier must keep, whatever it demands of a value: one suite, run for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from programs.carriers.carrier import Carrier
from programs.carriers.freeform import FreeFormCarrier, Said
from programs.carriers.typed import TypedCarrier
from programs.carriers.unowned import UnownedCarrier, Writes
from programs.contract import Fault, FieldTypes, Rejection
from programs.controller import Controller
from programs.methods.staterag_free_form.roles import WordsToSearch
from programs.models.ledger import Ledger
from programs.state import OPERATORS, OWNED_FIELD, Action, Role, StateField, Verdict, VerdictLabel
from programs.transcript import Transcript
from signatures.planner import Plan
from tests.support.hostile import Explosive, Sly
from tests.support.worlds import CountingReader, Heard, Says, make_world

WORLD = make_world()
GRAPH = WORLD.graph
SOURCES = WORLD.collection.texts
OPENERS = {
    "typed": lambda memory: TypedCarrier(WORLD.contract(memory)),
    "types and ownership": lambda memory: TypedCarrier(FieldTypes(SOURCES)),
    "types": lambda memory: UnownedCarrier(FieldTypes(SOURCES)),
    "free-form": lambda memory: FreeFormCarrier(),
}
JUNK = (None, "PASS", 7, float("nan"), {}, [], (), {"verdict": "PASS"}, object(), Explosive(), Sly("x"))
LABELS = (VerdictLabel.PASS, VerdictLabel.FAIL)


@dataclass
class Subject:
    """A carrier of a query's own, and how roles speak to it."""

    name: str
    carrier: Carrier

    def value(self, role: Role, cycle: int = 1, label: VerdictLabel = VerdictLabel.PASS, **changes: Any) -> Any:
        """Something that any carrier takes from a role."""
        trace = [GRAPH.root]
        while GRAPH.children(trace[-1]):
            trace.append(GRAPH.children(trace[-1])[0])
        records = tuple(GRAPH.record(node, cycle) for node in GRAPH.region(trace[-1])[:2])
        found = {
            Role.PLANNER: Plan(objective="find the lens", targets=(f"lens {cycle}",)),
            Role.NAVIGATOR: (tuple(trace),),
            Role.RETRIEVER: tuple(record.model_copy(update=changes) for record in records),
            Role.VERIFIER: Verdict(label=label, justification=f"as of {cycle}"),
            Role.SMP: (),
        }[role]
        if self.name != "free-form" or role is Role.SMP:
            return found
        text = f"the {role} says so in {cycle}"
        return Said(text, WordsToSearch(text) if role is Role.PLANNER else found)


@pytest.fixture(params=OPENERS)
def subject(request):
    with WORLD.query() as memory:
        yield Subject(request.param, OPENERS[request.param](memory))


def fields(state):
    return {field: getattr(state, field) for field in StateField}


def test_it_starts_empty(subject):
    state = subject.carrier.state
    assert (state.plan, state.path, state.evidence, state.artifacts) == (None, (), (), ())
    assert state.verdict.label is VerdictLabel.PENDING


def test_opening_a_cycle_stages_pending_and_forgets_nothing_else(subject):
    for role in OPERATORS:
        subject.carrier.commit(role, subject.value(role), 1)
    before = subject.carrier.state
    subject.carrier.open_cycle()
    after = subject.carrier.state
    assert after.verdict.label is VerdictLabel.PENDING
    assert {f for f in StateField if getattr(before, f) != getattr(after, f)} == {StateField.VERDICT}


def test_what_a_role_gives_is_there_for_the_next_and_changes_no_state_that_was_handed_out(subject):
    for role in OPERATORS:
        before = subject.carrier.state
        held = fields(before)
        outcome = subject.carrier.commit(role, subject.value(role), 1)
        assert not isinstance(outcome, Rejection)
        changed = {f for f, value in fields(subject.carrier.state).items() if value != held[f]}
        assert changed == {OWNED_FIELD[role]}
        assert fields(before) == held


def test_commits_say_who_wrote_what_when_and_are_plain_json(subject):
    written = []
    for cycle in (1, 2):
        subject.carrier.open_cycle()
        for role in OPERATORS:
            written.extend(subject.carrier.commit(role, subject.value(role, cycle), cycle))
    assert [(each.cycle, each.role) for each in written] == [(cycle, role) for cycle in (1, 2) for role in OPERATORS]
    assert all(each.field is OWNED_FIELD[each.role] and each.value for each in written)
    assert json.loads(json.dumps([each.model_dump(mode="json") for each in written]))


@pytest.mark.parametrize("role", OPERATORS)
def test_what_it_does_not_take_leaves_the_state_as_it_was_and_is_data(subject, role):
    junk = [*JUNK, Said("", ()), Said(" \n", ()), Writes(None, {}), Writes("x", {StateField.VERDICT: "PASS"})]
    for earlier in OPERATORS[: OPERATORS.index(role)]:
        subject.carrier.commit(earlier, subject.value(earlier), 1)
    before = subject.carrier.state
    for value in junk:
        outcome = subject.carrier.commit(role, value, 1)
        assert isinstance(outcome, Rejection)
        assert (outcome.role, outcome.cycle) == (role, 1)
        assert outcome.model_dump_json()
        assert subject.carrier.state is before


def run(subject, turns):
    heard, transcript = Heard(), Transcript()
    with WORLD.query() as memory:
        operators = {role: Says([turns(role, 1), turns(role, 2)]) for role in OPERATORS}
        Controller(operators, CountingReader(heard)).run(
            "where is the lens?",
            WORLD.tools(memory, Ledger("q")),
            memory,
            WORLD.contract(memory),
            subject.carrier,
            transcript,
        )
    return transcript, heard


@pytest.mark.parametrize("labels", [(VerdictLabel.PASS,), (VerdictLabel.FAIL, VerdictLabel.PASS), LABELS[1:] * 2])
def test_I3_the_reader_is_called_once_whatever_carries_the_state(subject, labels):
    transcript, heard = run(
        subject, lambda role, cycle: subject.value(role, cycle, labels[min(cycle, len(labels)) - 1])
    )
    assert len(heard.calls) == 1
    last = Action.RELEASE if labels[-1] is VerdictLabel.PASS else Action.FALLBACK
    assert transcript.actions == [Action.REVISE] * (len(labels) - 1) + [last]
    assert transcript.cycles == len(labels)


@pytest.mark.parametrize("silent", OPERATORS)
@pytest.mark.parametrize("in_cycle", [1, 2])
def test_I3_a_rejection_ends_the_query_before_the_reader(subject, silent, in_cycle):
    def turns(role, cycle):
        return None if (role, cycle) == (silent, in_cycle) else subject.value(role, cycle, VerdictLabel.FAIL)

    transcript, heard = run(subject, turns)
    assert heard.calls == []
    assert (transcript.status, transcript.action) == ("incomplete", None)
    assert [(each.role, each.cycle) for each in transcript.rejections] == [(silent, in_cycle)]


@pytest.mark.parametrize("forged", [{"text": "invented"}, {"source_id": "nowhere"}, {"start": 0, "end": 10**9}])
def test_I6_text_that_is_not_its_sources_never_reaches_the_reader(subject, forged):
    heard = None
    try:
        transcript, heard = run(subject, lambda role, cycle: subject.value(role, cycle, **forged))
        assert transcript.rejections
    except Fault:
        assert subject.name != "typed"
    assert heard is None or heard.calls == []


def test_a_record_given_twice_is_read_once_if_at_all(subject):
    def turns(role, cycle):
        value = subject.value(role, cycle)
        if role is not Role.RETRIEVER:
            return value
        return Said(value.text, value.found * 2) if isinstance(value, Said) else value * 2

    transcript, heard = run(subject, turns)
    ids = [record.evidence_id for record in transcript.evidence]
    assert len(ids) == len(set(ids))
    assert bool(heard.calls) == (subject.name != "typed")
