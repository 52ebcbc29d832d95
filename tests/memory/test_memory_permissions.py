"""The policy is written out a second time here, in words of its own, so that the table is compared with something."""

import itertools
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.permissions import TABLE, NotPermitted, Operation, RefusalReason, objection
from programs.settings import MemorySettings
from programs.state import Action, Role
from tests.memory.pools import SmallPool

POLICY = {
    "planner": "global plan rw, query justification r, private plan rw",
    "navigator": "global abstraction rw, global trace_score rw, query abstraction rw, query trace_score rw,"
    " private abstraction rw, private trace_score rw",
    "retriever": "query selection rw, private selection rw",
    "verifier": "query justification rw, query selection r, private justification rw",
    "smp": "",
}
EVERYTHING = list(itertools.product(Role, MemoryScope, Kind, Operation))


def allowed(role, scope, kind, operation) -> bool:
    grants = [grant.split() for grant in POLICY[role.value].split(",") if grant.strip()]
    return any(grant[:2] == [scope.value, kind.value] and operation.value[0] in grant[2] for grant in grants)


def payload_of(kind, tag, text):
    """A payload that says who wrote it, so that a reader can be asked where it came from."""
    return {
        Kind.ABSTRACTION: {"text": tag},
        Kind.JUSTIFICATION: {"text": tag},
        Kind.TRACE_SCORE: {"score": float(tag)},
        Kind.PLAN: {"query": text, "objective": tag, "targets": ["t"]},
        Kind.SELECTION: {"evidence_ids": [tag]},
    }[kind]


def tag_of(payload) -> int:
    value = payload.get("text") or payload.get("objective") or payload.get("evidence_ids") or payload["score"]
    return int(value[0] if isinstance(value, list) else value)


@pytest.mark.parametrize(("role", "scope", "kind", "operation"), EVERYTHING)
def test_the_table_grants_what_the_policy_says_and_nothing_else(role, scope, kind, operation):
    reason = objection(role, operation, scope, kind, query="q", of_query="q", owner=role)
    assert reason is (None if allowed(role, scope, kind, operation) else RefusalReason.NO_GRANT)


def test_the_table_can_not_be_changed_by_a_caller():
    with pytest.raises(TypeError):
        TABLE[(Role.VERIFIER, MemoryScope.GLOBAL, Kind.PLAN)] = frozenset(Operation)  # type: ignore[index]


def test_a_grant_holds_only_in_the_same_query_and_for_the_same_owner():
    def refused(scope, of_query, owner):
        return objection(
            Role.NAVIGATOR, Operation.READ, scope, Kind.ABSTRACTION, query="q", of_query=of_query, owner=owner
        )

    assert refused(MemoryScope.QUERY, "q", None) is None
    assert refused(MemoryScope.QUERY, "other", None) is RefusalReason.OTHER_QUERY
    assert refused(MemoryScope.PRIVATE, "other", Role.NAVIGATOR) is RefusalReason.OTHER_QUERY
    assert refused(MemoryScope.PRIVATE, "q", Role.PLANNER) is RefusalReason.OTHER_OWNER
    assert refused(MemoryScope.PRIVATE, "q", None) is RefusalReason.OTHER_OWNER


@dataclass
class Step:
    verb: str
    query: int
    role: Role
    scope: MemoryScope
    kind: Kind
    key: str


steps = st.lists(
    st.builds(
        Step,
        verb=st.sampled_from(["offer", "offer", "persist", "recall", "recall", "read all"]),
        query=st.integers(0, 2),
        role=st.sampled_from(list(Role)),
        scope=st.sampled_from(list(MemoryScope)),
        kind=st.sampled_from(list(Kind)),
        key=st.sampled_from(["k1", "k2"]),
    ),
    max_size=60,
)


class Watch:
    """Runs steps of three interleaved queries and checks each payload that comes back against who wrote it."""

    def __init__(self, pool) -> None:
        self.memories = [pool.open(f"q{i}", i, f"text {i}") for i in range(3)]
        self.offered: list[Step] = []
        self.ids: set[str] = set()
        self.returned = 0

    def run(self, step: Step) -> None:
        memory = self.memories[step.query]
        if step.verb == "persist":
            memory.persist(Action.REVISE)
        elif step.verb == "offer":
            self.offer(memory, step)
        elif step.verb == "recall":
            self.recall(memory, step)
        else:
            for name in sorted(self.ids):
                self.read(memory, step, name)

    def offer(self, memory, step) -> None:
        payload = payload_of(step.kind, str(len(self.offered) + 1), f"text {step.query}")
        self.offered.append(step)
        if allowed(step.role, step.scope, step.kind, Operation.WRITE):
            self.ids.add(memory.handle(step.role).offer(step.kind, step.key, payload, ["s"], step.scope))
        else:
            with pytest.raises(NotPermitted):
                memory.handle(step.role).offer(step.kind, step.key, payload, ["s"], step.scope)

    def recall(self, memory, step) -> None:
        before = (memory.reads, memory.hits, memory.refused)
        if allowed(step.role, step.scope, step.kind, Operation.READ):
            self.judge(step, step.role, memory.handle(step.role).recall(step.kind, step.key, step.scope))
            assert memory.reads == before[0] + (step.scope is MemoryScope.GLOBAL)
        else:
            with pytest.raises(NotPermitted):
                memory.handle(step.role).recall(step.kind, step.key, step.scope)
            assert (memory.reads, memory.hits, memory.refused) == (before[0], before[1], before[2] + 1)

    def read(self, memory, step, name) -> None:
        with suppress(NotPermitted):
            self.judge(step, step.role, memory.handle(step.role).read(name))
        if memory.readable(name):
            self.judge(step, None, memory.payload(name))

    def judge(self, step, role, payload) -> None:
        if payload is None:
            return
        self.returned += 1
        origin = self.offered[tag_of(payload) - 1]
        assert allowed(origin.role, origin.scope, origin.kind, Operation.WRITE)
        if role is not None:
            assert allowed(role, origin.scope, origin.kind, Operation.READ)
        if origin.scope is MemoryScope.GLOBAL:
            assert origin.query < step.query
        else:
            assert origin.query == step.query
        if origin.scope is MemoryScope.PRIVATE:
            assert origin.role is role


@settings(max_examples=150, deadline=None)
@given(steps)
def test_no_sequence_of_operations_crosses_a_role_a_query_or_the_table(sequence):
    with SmallPool("w", None, MemorySettings()) as pool:
        watch = Watch(pool)
        for step in sequence:
            watch.run(step)


def test_the_watch_sees_what_is_permitted():
    """The property above would hold of a memory that never answers; this one answers in all three scopes."""
    with SmallPool("w", None, MemorySettings()) as pool:
        watch = Watch(pool)
        for scope in MemoryScope:
            for verb, query in [("offer", 1), ("persist", 1), ("recall", 2 if scope is MemoryScope.GLOBAL else 1)]:
                watch.run(Step(verb, query, Role.NAVIGATOR, scope, Kind.TRACE_SCORE, "k1"))
        assert watch.returned == 3


def test_another_roles_private_artifact_is_refused_by_its_id_and_is_nothing_to_the_query():
    with SmallPool("w", None, MemorySettings()) as pool, pool.open("q", 0, "text") as memory:
        name = memory.handle(Role.VERIFIER).offer(Kind.JUSTIFICATION, "k", {"text": "mine"}, ["q"], MemoryScope.PRIVATE)
        memory.persist(Action.REVISE)
        assert memory.handle(Role.VERIFIER).read(name) == {"text": "mine"}
        for other in (Role.PLANNER, Role.NAVIGATOR, Role.RETRIEVER, Role.SMP):
            with pytest.raises(NotPermitted):
                memory.handle(other).read(name)
        assert not memory.readable(name)
        assert name not in memory.resolve()
