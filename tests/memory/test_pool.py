import json
from contextlib import suppress

import numpy as np
import pytest

from programs.memory.artifacts import Kind, MemoryScope, NotEligible
from programs.memory.permissions import NotPermitted, RefusalReason
from programs.memory.pool import MAX_RESOLVED
from programs.settings import MemorySettings
from programs.state import Action, Role
from tests.memory.pools import SmallPool

GLOBAL, QUERY, PRIVATE = MemoryScope.GLOBAL, MemoryScope.QUERY, MemoryScope.PRIVATE
ALIKE = np.array([1, 0], dtype=np.float32)
UNLIKE = np.array([0, 1], dtype=np.float32)


@pytest.fixture(params=["file", "memory"])
def path(request, tmp_path):
    return tmp_path / "m.sqlite" if request.param == "file" else None


@pytest.fixture
def pool(path):
    with SmallPool("w", path, MemorySettings()) as pool:
        yield pool


def offer_text(memory, key="k", scope=GLOBAL, text="text"):
    return memory.handle(Role.NAVIGATOR).offer(Kind.ABSTRACTION, key, {"text": text}, ["s#0-4"], scope)


def offer_plan(memory, key, text, objective="o"):
    payload = {"query": text, "objective": objective, "targets": ["t"]}
    return memory.handle(Role.PLANNER).offer(Kind.PLAN, key, payload, [memory.query_id], GLOBAL)


def justify(memory, key, text):
    return memory.handle(Role.VERIFIER).offer(Kind.JUSTIFICATION, key, {"text": text}, [memory.query_id], QUERY)


def leave_plan(pool, position, vector, objective, action=Action.RELEASE):
    with pool.open(f"q{position}", position, f"text {position}", vector) as memory:
        name = offer_plan(memory, f"p{position}", f"text {position}", objective)
        memory.persist(action)
    return name


def test_an_offer_is_transient_until_the_action_is_chosen(pool):
    with pool.open("q", 0, "text") as memory:
        navigator = memory.handle(Role.NAVIGATOR)
        names = [offer_text(memory, scope=scope) for scope in (QUERY, PRIVATE)]
        assert navigator.recall(Kind.ABSTRACTION, "k", QUERY) is None
        assert navigator.recall(Kind.ABSTRACTION, "k", PRIVATE) is None
        assert memory.resolve() == ()
        assert memory.persist(Action.REVISE) == tuple(names)
        assert navigator.recall(Kind.ABSTRACTION, "k", QUERY) == {"text": "text"}
        assert navigator.recall(Kind.ABSTRACTION, "k", PRIVATE) == {"text": "text"}
        assert memory.resolve() == (names[0],)


def test_d11_a_query_sees_the_global_artifacts_of_queries_before_it_only(pool):
    with pool.open("q5", 5, "text") as memory:
        offer_text(memory)
        memory.persist(Action.REVISE)
        assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is None
    seen = {}
    for position in (4, 5, 6):
        with pool.open(f"r{position}", position, "text") as memory:
            seen[position] = memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k")
    assert seen == {4: None, 5: None, 6: {"text": "text"}}


def test_query_and_private_artifacts_end_with_their_query(pool):
    with pool.open("q", 0, "text") as memory:
        names = [offer_text(memory, scope=scope) for scope in (QUERY, PRIVATE)]
        memory.persist(Action.REVISE)
        assert memory.readable(names[0])
    assert not memory.readable(names[0])
    with pool.open("q", 1, "text") as again:
        for scope in (QUERY, PRIVATE):
            assert again.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k", scope) is None
        assert [again.handle(Role.NAVIGATOR).read(name) for name in names] == [None, None]


def test_a_handle_kept_past_its_query_is_refused(pool):
    with pool.open("q", 0, "text") as memory:
        handle = memory.handle(Role.NAVIGATOR)
    with pytest.raises(NotPermitted) as refusal:
        handle.recall(Kind.ABSTRACTION, "k")
    assert refusal.value.refusal.reason == RefusalReason.QUERY_ENDED


def test_a_hit_is_a_permitted_global_read_that_returned_something(pool):
    with pool.open("q0", 0, "text") as memory:
        offer_text(memory, "known")
        memory.persist(Action.RELEASE)
    with pool.open("q1", 1, "text") as memory:
        navigator = memory.handle(Role.NAVIGATOR)
        assert navigator.recall(Kind.ABSTRACTION, "unknown") is None
        assert (memory.reads, memory.hits) == (1, 0)
        assert navigator.recall_many(Kind.ABSTRACTION, ["known", "unknown", "known"]) == {"known": {"text": "text"}}
        assert (memory.reads, memory.hits) == (2, 1)
        assert navigator.recall(Kind.ABSTRACTION, "known", QUERY) is None
        assert (memory.reads, memory.hits, memory.refused) == (2, 1, 0)
        with pytest.raises(NotPermitted):
            memory.handle(Role.VERIFIER).recall(Kind.ABSTRACTION, "known")
        assert (memory.reads, memory.hits, memory.refused) == (2, 1, 1)
        assert memory.refusals[0].role is Role.VERIFIER


def test_every_permitted_global_read_counts_whatever_there_was_to_ask_for(pool):
    with pool.open("q", 0, "text") as memory:
        assert memory.handle(Role.NAVIGATOR).recall_many(Kind.ABSTRACTION, []) == {}
        assert memory.handle(Role.PLANNER).similar_plans() == []
        assert (memory.reads, memory.hits) == (2, 0)
    name = leave_plan(pool, 1, ALIKE, "first")
    with pool.open("q2", 2, "text", ALIKE) as memory:
        assert memory.handle(Role.PLANNER).read(name)["objective"] == "first"
        assert (memory.reads, memory.hits) == (1, 1)


def test_similar_plans_are_one_read_of_the_planner_alone(pool):
    leave_plan(pool, 0, ALIKE, "first")
    with pool.open("q1", 1, "text", UNLIKE) as memory:
        assert memory.handle(Role.PLANNER).similar_plans() == []
        assert (memory.reads, memory.hits) == (1, 0)
    with pool.open("q2", 2, "text", ALIKE) as memory:
        assert [plan["objective"] for plan in memory.handle(Role.PLANNER).similar_plans()] == ["first"]
        assert (memory.reads, memory.hits) == (1, 1)
        with pytest.raises(NotPermitted):
            memory.handle(Role.NAVIGATOR).similar_plans()


def test_u_is_similar_plans_best_first_then_this_querys_artifacts_newest_first(pool):
    near = np.array([0.95, np.sqrt(1 - 0.95**2)], dtype=np.float32)
    close, same, _ = (leave_plan(pool, i, v, f"o{i}") for i, v in enumerate([near, ALIKE, UNLIKE]))
    with pool.open("q3", 3, "text", ALIKE) as memory:
        assert memory.resolve() == (same, close)
        assert memory.payload(same)["objective"] == "o1"
        own = [justify(memory, f"c{i}", f"missing {i}") for i in range(9)]
        memory.persist(Action.REVISE)
        assert memory.resolve() == (same, close, *reversed(own))[:MAX_RESOLVED]
        assert all(memory.readable(name) for name in memory.resolve())
        assert memory.handle(Role.PLANNER).read(own[0]) == {"text": "missing 0"}
        assert (memory.reads, memory.hits) == (0, 0)


def test_u_has_no_id_of_a_later_or_unknown_artifact(pool):
    name = leave_plan(pool, 4, ALIKE, "later")
    with pool.open("q2", 2, "text", ALIKE) as memory:
        assert memory.resolve() == ()
        assert not memory.readable(name)
        assert not memory.readable("plan-0000000000000000")
        assert memory.payload("plan-0000000000000000") is None


def test_an_incomplete_query_leaves_nothing_of_the_cycle_that_failed(pool):
    with pool.open("q0", 0, "text") as memory:
        offer_text(memory, "completed cycle")
        memory.persist(Action.REVISE)
        offer_text(memory, "failed cycle")
        assert memory.persist(None) == ()
    with pool.open("q1", 1, "text") as memory:
        found = memory.handle(Role.NAVIGATOR).recall_many(Kind.ABSTRACTION, ["completed cycle", "failed cycle"])
    assert list(found) == ["completed cycle"]


def test_a_query_that_ends_by_an_exception_leaves_nothing(pool):
    with suppress(RuntimeError), pool.open("q0", 0, "text") as memory:
        offer_text(memory)
        raise RuntimeError
    with pool.open("q1", 1, "text") as memory:
        assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is None


@pytest.mark.parametrize("action", [Action.BYPASS, Action.RELEASE, Action.FALLBACK, None])
def test_i7_nothing_can_be_offered_after_the_terminal_action_when_the_reader_runs(pool, action):
    with pool.open("q", 0, "text") as memory:
        offer_text(memory)
        memory.persist(action)
        with pytest.raises(NotPermitted) as refusal:
            offer_text(memory, "late", text="the reader's answer")
        assert refusal.value.refusal.reason == RefusalReason.AFTER_TERMINAL
        assert memory.persist(Action.RELEASE) == ()


def test_i7_canaries_of_answers_labels_and_reader_outputs_reach_neither_file_nor_payloads(tmp_path):
    path = tmp_path / "m.sqlite"
    good = {
        (Role.PLANNER, Kind.PLAN): {"query": "text", "objective": "o", "targets": ["t"]},
        (Role.NAVIGATOR, Kind.ABSTRACTION): {"text": "kept"},
        (Role.NAVIGATOR, Kind.TRACE_SCORE): {"score": 0.5},
    }
    with SmallPool("w", path, MemorySettings()) as pool:
        with pool.open("q", 0, "text", ALIKE) as memory:
            for (role, kind), payload in good.items():
                for field in ("answer", "reference", "label", "output"):
                    with pytest.raises(NotEligible):
                        memory.handle(role).offer(kind, "k", {**payload, field: "CANARY"}, ["q"], GLOBAL)
                memory.handle(role).offer(kind, "k", payload, ["q"], GLOBAL)
            memory.persist(Action.RELEASE)
            with pytest.raises(NotPermitted):
                offer_text(memory, "late", text="CANARY")
            memory.persist(Action.RELEASE)
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"kept" in written
    assert b"CANARY" not in written


def test_a_plan_must_be_of_the_query_that_offers_it(pool):
    with pool.open("q", 0, "text") as memory, pytest.raises(NotEligible, match="that query's text"):
        offer_plan(memory, "p", "another text")


def test_provenance_outside_the_querys_sources_is_not_eligible(pool):
    with pool.open("q", 0, "text") as memory:
        offer_text(memory)
        navigator = memory.handle(Role.NAVIGATOR)
        with pytest.raises(NotEligible, match="elsewhere"):
            navigator.offer(Kind.ABSTRACTION, "k2", {"text": "x"}, ["elsewhere#0-4"], GLOBAL)


def test_an_empty_payload_is_not_kept_and_is_no_fault(pool):
    with pool.open("q", 0, "text") as memory:
        assert justify(memory, "c1", "  ") is None
        assert memory.persist(Action.RELEASE) == ()


def test_what_a_role_does_to_a_payload_does_not_reach_memory(pool):
    with pool.open("q", 0, "text") as memory:
        name = memory.handle(Role.RETRIEVER).offer(Kind.SELECTION, "k", {"evidence_ids": ["s#0-4"]}, ["s"], QUERY)
        memory.persist(Action.REVISE)
        for got in (
            memory.handle(Role.RETRIEVER).recall(Kind.SELECTION, "k", QUERY),
            memory.handle(Role.VERIFIER).read(name),
            memory.payload(name),
        ):
            got["evidence_ids"].append("CANARY")
        assert memory.payload(name) == {"evidence_ids": ["s#0-4"]}


def test_global_memory_can_be_cleared_at_each_query_boundary(path):
    settings = MemorySettings(keep_global=False)
    with SmallPool("w", path, settings) as pool:
        leave_plan(pool, 0, ALIKE, "first")
        with pool.open("q1", 1, "text", ALIKE) as memory:
            assert memory.handle(Role.PLANNER).similar_plans() == []
            assert memory.resolve() == ()
            assert (memory.reads, memory.hits) == (1, 0)
            name = justify(memory, "c1", "missing")
            memory.persist(Action.REVISE)
            assert memory.resolve() == (name,)
        assert len(pool._store) == 0


def test_queries_side_by_side_see_nothing_of_each_other_when_global_memory_is_cleared():
    pool = SmallPool("w", None, MemorySettings(keep_global=False))
    with pool, pool.open("q0", 0, "text") as early, pool.open("q1", 1, "text") as late:
        offer_text(early)
        early.persist(Action.REVISE)
        assert late.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is None


def test_memory_switched_off_stores_nothing_counts_nothing_and_makes_no_file(tmp_path):
    path = tmp_path / "m.sqlite"
    with SmallPool("w", path, MemorySettings(enabled=False)) as pool:
        leave_plan(pool, 0, ALIKE, "first")
        with pool.open("q1", 1, "text", ALIKE) as memory:
            justify(memory, "c1", "missing")
            assert memory.persist(Action.REVISE) == ()
            assert memory.handle(Role.PLANNER).similar_plans() == []
            assert memory.handle(Role.NAVIGATOR).recall(Kind.ABSTRACTION, "k") is None
            assert memory.handle(Role.VERIFIER).recall(Kind.JUSTIFICATION, "c1", QUERY) is None
            assert memory.resolve() == ()
            assert (memory.reads, memory.hits) == (0, 0)
            with pytest.raises(NotPermitted):
                memory.handle(Role.VERIFIER).similar_plans()
        pool.rewind(0)
    assert not path.exists()


def test_i8_a_run_stopped_and_resumed_finds_what_one_never_stopped_finds(tmp_path):
    def run(pool, positions, stop_after_first_cycle=False):
        seen = []
        for position in positions:
            with pool.open(f"q{position}", position, f"text {position}", ALIKE) as memory:
                seen.append(json.dumps([memory.resolve(), memory.handle(Role.PLANNER).similar_plans()]))
                for cycle, action in enumerate([Action.REVISE, Action.RELEASE]):
                    offer_plan(memory, f"p{position}.{cycle}", f"text {position}", f"o{position}.{cycle}")
                    memory.persist(action)
                    if stop_after_first_cycle:
                        break
        return seen

    settings = MemorySettings(similar_plans=20)
    with SmallPool("w", tmp_path / "whole.sqlite", settings) as pool:
        whole = run(pool, range(6))
    with SmallPool("w", tmp_path / "halves.sqlite", settings) as pool:
        first = run(pool, range(3))
        run(pool, [3], stop_after_first_cycle=True)
    with SmallPool("w", tmp_path / "halves.sqlite", settings) as pool:
        pool.rewind(3)
        assert first + run(pool, range(3, 6)) == whole


def test_a_position_before_the_first_is_refused(pool):
    with pytest.raises(ValueError, match="count from 0"):
        pool.open("q", -1, "text")
