"""What a query may read of global memory: artifacts whose provenance is in its own sources, by content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.documents.collection import Collection, Source
from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.pool import Pool
from programs.settings import MemorySettings
from programs.state import Action, Role

GLOBAL = MemoryScope.GLOBAL
ALIKE = np.array([1, 0], dtype=np.float32)


def sources(texts: str, name: str = "passage") -> Collection:
    """A source for each letter; its id is its place, so that one text has another id in another collection."""
    return Collection(sources=tuple(Source(source_id=f"{name}-{i}", text=text) for i, text in enumerate(texts)))


def leave(pool, position, collection, key, provenance, text=None):
    with pool.open(f"q{position}", position, "?", collection) as memory:
        payload = {"text": text or key}
        memory.handle(Role.NAVIGATOR).offer(Kind.ABSTRACTION, key, payload, provenance, GLOBAL)
        memory.persist(Action.RELEASE)


def leave_plan(pool, position, collection, objective, shown=()):
    with pool.open(f"q{position}", position, f"? {objective}", collection, ALIKE) as memory:
        payload = {"query": f"? {objective}", "objective": objective, "targets": ["t"]}
        planner = memory.handle(Role.PLANNER)
        found = [plan["objective"] for plan in planner.similar_plans()]
        planner.offer(Kind.PLAN, objective, payload, [memory.query_id, *shown], GLOBAL)
        memory.persist(Action.RELEASE)
    return found


def plans_for(pool, position, collection):
    with pool.open(f"q{position}", position, "?", collection, ALIKE) as memory:
        found = [plan["objective"] for plan in memory.handle(Role.PLANNER).similar_plans()]
        assert (memory.reads, memory.hits) == (1, bool(found))
        assert memory.resolve() == tuple(name for name in memory.resolve() if memory.readable(name))
        assert len(memory.resolve()) == len(found)
    return found


@pytest.fixture(params=["file", "memory"])
def pool(request, tmp_path):
    with Pool("w", tmp_path / "m.sqlite" if request.param == "file" else None, MemorySettings()) as pool:
        yield pool


def test_an_artifact_of_other_sources_is_no_hit_though_its_key_and_the_sources_names_are_the_same(pool):
    leave(pool, 0, sources("ab"), "k", ["passage-0#0-1"])
    with pool.open("q1", 1, "?", sources("cb")) as memory:
        assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is None
        assert (memory.reads, memory.hits) == (1, 0)


def test_a_text_that_recurs_under_another_name_is_the_same_source(pool):
    leave(pool, 0, sources("ab"), "k", ["passage-1#0-1"])
    with pool.open("q1", 1, "?", sources("zyb")) as memory:
        assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") == {"text": "k"}
        assert (memory.reads, memory.hits) == (1, 1)


def test_what_stands_on_two_sources_needs_both(pool):
    leave(pool, 0, sources("ab"), "k", ["passage-0#0-1", "passage-1#0-1"])
    for position, texts in enumerate(["a", "b", "ba"], start=1):
        with pool.open(f"q{position}", position, "?", sources(texts)) as memory:
            assert (memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is not None) == (texts == "ba")


def test_an_artifact_of_other_sources_does_not_keep_ones_own_out_of_memory(pool):
    leave(pool, 0, sources("a"), "k", ["passage-0#0-1"], "of a")
    leave(pool, 1, sources("b"), "k", ["passage-0#0-1"], "of b")
    with pool.open("q2", 2, "?", sources("b")) as memory:
        assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") == {"text": "of b"}


def test_a_plan_is_offered_where_its_query_was_asked_of_a_source_that_is_here_too(pool):
    leave_plan(pool, 0, sources("ab"), "first")
    assert plans_for(pool, 1, sources("cd")) == []
    assert plans_for(pool, 2, sources("cb")) == ["first"]


def test_a_plan_that_was_shown_evidence_needs_the_sources_of_that_evidence(pool):
    leave_plan(pool, 0, sources("ab"), "revised", shown=["passage-0#0-1"])
    assert plans_for(pool, 1, sources("b")) == []
    assert plans_for(pool, 2, sources("ca")) == ["revised"]


def test_a_plan_stands_on_what_the_plans_that_it_was_shown_stand_on(pool):
    leave_plan(pool, 0, sources("ab"), "first", shown=["passage-0#0-1"])
    assert leave_plan(pool, 1, sources("ab"), "second") == ["first"]
    assert plans_for(pool, 2, sources("bc")) == []


def test_plans_of_other_sources_do_not_take_the_places_of_those_that_may_be_read(pool):
    for position in range(9):
        leave_plan(pool, position, sources("x"), f"other {position}")
    leave_plan(pool, 9, sources("a"), "ours")
    assert plans_for(pool, 10, sources("a")) == ["ours"]


def test_rewinding_forgets_the_sources_of_what_is_forgotten(pool):
    leave_plan(pool, 0, sources("a"), "first")
    leave_plan(pool, 1, sources("b"), "second")
    pool.rewind(1)
    assert pool._store.shares(sources("a").digest, set(sources("a").contents.values()))
    assert not pool._store.shares(sources("b").digest, set(sources("b").contents.values()))


@dataclass
class Left:
    """A query that offered an artifact: its sources, those that the artifact stands on, and whether it is a plan."""

    texts: str
    grounds: str
    key: str
    plan: bool

    def may_be_read_by(self, texts: str) -> bool:
        return set(self.grounds) <= set(texts) and (not self.plan or bool(set(self.texts) & set(texts)))


letters = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True).map("".join)
queries = letters.flatmap(
    lambda texts: st.builds(
        Left,
        texts=st.just(texts),
        grounds=st.lists(st.sampled_from(texts), max_size=2, unique=True).map("".join),
        key=st.sampled_from(["k1", "k2"]),
        plan=st.booleans(),
    )
)


@settings(max_examples=200, deadline=None)
@given(st.lists(queries, max_size=8), letters)
def test_a_query_reads_the_earliest_artifact_that_its_sources_hold_the_provenance_of_and_no_other(before, texts):
    before = [left for left in before if left.plan or left.grounds]
    with Pool("w", None, MemorySettings()) as pool:
        for position, left in enumerate(before):
            provenance = [f"passage-{left.texts.index(letter)}#0-1" for letter in left.grounds]
            provenance += [f"q{position}"] if left.plan else []
            leave(pool, position, sources(left.texts), left.key, provenance, str(position))
        with pool.open("q", len(before), "?", sources(texts, "another")) as memory:
            navigator = memory.handle(Role.NAVIGATOR)
            for reads, key in enumerate(["k1", "k2"], start=1):
                eligible = [
                    {"text": str(position)}
                    for position, left in enumerate(before)
                    if left.key == key and left.may_be_read_by(texts)
                ]
                hits = memory.hits
                assert navigator.recall(Kind.ABSTRACTION, key) == (eligible[0] if eligible else None)
                assert (memory.reads, memory.hits) == (reads, hits + bool(eligible))


def test_of_what_may_be_read_the_earliest_within_the_horizon_is_and_a_resumed_run_finds_the_same():
    left = ["x", "a", "b", "a", "x"]

    def found(pool, position):
        with pool.open(f"q{position}", position, "?", sources("a")) as memory:
            return memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k")

    with Pool("w", None, MemorySettings(horizon=3)) as pool:
        for position, text in enumerate(left):
            leave(pool, position, sources(text), "k", ["passage-0#0-1"], f"of {position}")
        expected = [
            None,
            None,
            {"text": "of 1"},
            {"text": "of 1"},
            {"text": "of 1"},
            {"text": "of 3"},
            {"text": "of 3"},
        ]
        assert [found(pool, position) for position in range(7)] == expected
        pool.rewind(3)
        leave(pool, 4, sources("x"), "k", ["passage-0#0-1"], "of 4")
        leave(pool, 3, sources("a"), "k", ["passage-0#0-1"], "of 3")
        assert [found(pool, position) for position in range(7)] == expected


def test_plans_of_other_sources_take_no_places_within_a_horizon_either():
    with Pool("w", None, MemorySettings(horizon=6, similar_plans=2)) as pool:
        leave_plan(pool, 0, sources("a"), "out of reach")
        leave_plan(pool, 1, sources("a"), "ours")
        for position in range(2, 7):
            leave_plan(pool, position, sources("x"), f"other {position}")
        assert plans_for(pool, 7, sources("a")) == ["ours"]
