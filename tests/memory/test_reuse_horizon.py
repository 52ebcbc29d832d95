"""The reuse horizon: only what the last k queries of the order left may be used again."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.memory.artifacts import Kind, MemoryScope
from programs.runner.evaluate import evaluate
from programs.settings import MemorySettings, load_settings
from programs.state import Action, Role
from tests.memory.pools import SmallPool
from tests.support.dying import Killed, dying
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions, records_of, scripted_runtime
from tests.support.worlds import small_settings

VECTOR = np.array([1, 0], dtype=np.float32)
QUERIES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)
"""For each query the abstraction that it leaves, and the plan: few of either, so that many queries leave the same."""
HORIZON = st.one_of(st.none(), st.integers(1, 5))


def play(pool, queries, start=0):
    """Run queries from a position on; say what each could find, by content key, before it left its own."""
    found = []
    for position in range(start, len(queries)):
        text, plan = queries[position]
        with pool.open(f"q{position}", position, f"question {plan}", VECTOR) as memory:
            navigator, planner = memory.handle(Role.NAVIGATOR), memory.handle(Role.PLANNER)
            texts = navigator.recall_many(Kind.ABSTRACTION, [f"a{i}" for i in range(4)])
            plans = [payload["query"] for payload in planner.similar_plans()]
            found.append(({key: payload["text"] for key, payload in texts.items()}, plans, memory.resolve()))
            payload = {"text": f"text {text} of {position}"}
            navigator.offer(Kind.ABSTRACTION, f"a{text}", payload, ["s#0-4"], MemoryScope.GLOBAL)
            payload = {"query": f"question {plan}", "objective": "o", "targets": ["t"]}
            planner.offer(Kind.PLAN, f"p{plan}", payload, [f"q{position}"], MemoryScope.GLOBAL)
            memory.persist(Action.RELEASE)
    return found


def opened(horizon):
    return SmallPool("w", None, MemorySettings(horizon=horizon, similar_plans=12))


@settings(max_examples=60, deadline=None)
@given(QUERIES, HORIZON)
def test_a_query_finds_what_the_last_k_before_it_left_and_nothing_else(queries, horizon):
    with opened(horizon) as pool:
        found = play(pool, queries)
    for position, (texts, plans, resolved) in enumerate(found):
        first = 0 if horizon is None else max(0, position - horizon)
        left = {}
        for earlier in range(first, position):
            left.setdefault(f"a{queries[earlier][0]}", f"text {queries[earlier][0]} of {earlier}")
        asked = dict.fromkeys(f"question {queries[earlier][1]}" for earlier in range(first, position))
        assert texts == left
        assert plans == list(asked)
        assert len(resolved) == len(asked)


@settings(max_examples=60, deadline=None)
@given(QUERIES, HORIZON, st.data())
def test_I8_queries_that_are_taken_back_and_run_again_find_what_they_found(queries, horizon, data):
    with opened(horizon) as pool:
        whole = play(pool, queries)
        start = data.draw(st.integers(0, len(queries)))
        pool.rewind(start)
        assert play(pool, queries, start) == whole[start:]


def test_I8_a_run_with_a_horizon_that_is_killed_and_resumed_gives_the_same_records(tmp_path):
    chosen = small_settings(**{**ASKS_MODELS, "memory": {"plan_similarity": 0.3, "horizon": 2}})
    evaluation = make_evaluation("staterag", chosen, queries=8, collections=2)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, whole := scripted_runtime(chosen), tmp_path / "whole")
    asked = []
    dies_after = partial(dying, opinions, asked)
    for limit in (4, 13, 21):
        with pytest.raises(Killed):
            evaluate(
                evaluation, manifest, scripted_runtime(chosen, script=dies_after(limit)), tmp_path / "run", resume=True
            )
    evaluate(evaluation, manifest, scripted_runtime(chosen, script=dies_after(-1)), tmp_path / "run", resume=True)
    assert records_of(tmp_path / "run") == records_of(tmp_path / "whole")
    assert asked == whole.reader.engine.requests


def test_a_horizon_of_no_query_is_refused_and_none_is_no_horizon():
    with pytest.raises(InputError, match=r"memory\.horizon"):
        load_settings("tiny", ["memory.horizon=0"])
    assert load_settings("tiny").memory.horizon is None
