"""Navigation stays within B, K, Cmax and hmax, and proposes only paths of the graph."""

from __future__ import annotations

import itertools
import math
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.settings import NavigationSettings
from programs.state import ADMISSIBLE, NodeType
from programs.tam.navigate import exhausted, navigate

WORDS = st.sampled_from(["red", "blue", "fox", "whale", "runs", "swims", "sea", "sky", "old", "new"])
COLLECTIONS = st.lists(st.lists(WORDS, min_size=1, max_size=25).map(" ".join), min_size=1, max_size=12)
LIMITS = st.builds(
    NavigationSettings,
    branch=st.integers(1, 3),
    beam=st.integers(1, 5),
    candidates=st.integers(1, 40),
    depth=st.integers(3, 6),
)


class Graded:
    """Scores a node by its number alone, coarsely so that ties happen; keeps every call."""

    def __init__(self):
        self.calls = []

    def __call__(self, traces):
        self.calls.append(list(traces))
        return [zlib.crc32(str(trace[-1]).encode()) % 4 / 4 for trace in traces]


def is_path(graph, trace):
    pairs = list(itertools.pairwise(trace))
    return (
        trace[0] == graph.root
        and graph.node_type(trace[-1]) is NodeType.EVIDENCE
        and all(graph.has_edge(*pair) for pair in pairs)
        and all((graph.node_type(a), graph.node_type(b)) in ADMISSIBLE for a, b in pairs)
    )


def query(graph, encoder):
    return graph.cosines(encoder.encode_queries(["red whale"])[0], "abstraction")


@settings(max_examples=120, deadline=None)
@given(texts=COLLECTIONS, limits=LIMITS, budget=st.none() | st.integers(0, 50), data=st.data())
def test_limits_hold_and_completed_traces_are_paths(graph_of, encoder, texts, limits, budget, data):
    graph = graph_of(texts)
    avoid = data.draw(st.sets(st.integers(-2, len(graph) + 2)))
    graded = Graded()
    found = navigate(graph, query(graph, encoder), graded, limits, budget, avoid)
    cap = limits.candidates if budget is None else min(budget, limits.candidates)
    assert found.scored == sum(len(call) for call in graded.calls) <= cap
    assert found.levels == len(graded.calls) <= max(limits.depth, graph.depth)
    for level, call in enumerate(graded.calls):
        assert all(len(trace) == level + 2 for trace in call)
        assert len({trace[-1] for trace in call}) == len(call)
        beam = {trace[:-1] for trace in call}
        assert len(beam) <= limits.beam
        for grandparent in {trace[:-1] for trace in beam}:
            assert sum(trace[:-1] == grandparent for trace in beam) <= limits.branch
    traces = [done.trace for done in found.completed]
    assert all(is_path(graph, trace) for trace in traces)
    assert len(set(traces)) == len(traces)
    assert all(sum(other[:-1] == trace[:-1] for other in traces) <= limits.branch for trace in traces)
    order = [(-done.score, done.trace) for done in found.completed]
    assert order == sorted(order)


@settings(max_examples=60, deadline=None)
@given(texts=COLLECTIONS, limits=LIMITS, data=st.data())
def test_a_budget_of_one_a_level_completes_and_avoided_evidence_is_not_proposed(graph_of, encoder, texts, limits, data):
    graph = graph_of(texts)
    avoid = data.draw(st.sets(st.sampled_from(graph.evidence_nodes)))
    limits = limits.model_copy(update={"candidates": max(limits.candidates, graph.depth)})
    found = navigate(graph, query(graph, encoder), Graded(), limits, avoid=avoid)
    ends = {done.trace[-1] for done in found.completed}
    assert ends
    assert not ends & avoid or len(avoid) == graph.leaves


def test_too_small_a_budget_completes_nothing(graph_of, encoder):
    graph = graph_of(["red fox", "blue whale"])
    found = navigate(graph, query(graph, encoder), Graded(), NavigationSettings(), budget=graph.depth - 1)
    assert found.completed == ()
    assert found.scored == graph.depth - 1
    nothing = navigate(graph, query(graph, encoder), Graded(), NavigationSettings(), budget=0)
    assert (nothing.completed, nothing.scored, nothing.levels) == ((), 0, 0)


def test_a_wide_root_leaves_budget_for_the_levels_below(graph_of, encoder, tight):
    flat = tight.model_copy(update={"tam": tight.tam.model_copy(update={"deepen": False})})
    graph = graph_of([f"w{3 * i} w{3 * i + 1} w{3 * i + 2}" for i in range(90)], flat)
    assert len(graph.children(graph.root)) > 32
    graded = Graded()
    found = navigate(graph, query(graph, encoder), graded, NavigationSettings())
    assert len(graded.calls[0]) == math.ceil(32 / 3)
    assert found.completed


def test_the_pre_rank_finds_the_topic_that_is_last_in_node_order(graph_of, encoder, tight):
    flat = tight.model_copy(update={"tam": tight.tam.model_copy(update={"deepen": False})})
    texts = [f"w{3 * i} w{3 * i + 1} w{3 * i + 2}" for i in range(60)]
    graph = graph_of(texts, flat)
    wanted = encoder.encode_queries([texts[-1]])[0]
    found = navigate(
        graph,
        graph.cosines(wanted, "abstraction"),
        lambda traces: [float(graph.vector(t[-1]) @ wanted) for t in traces],
        NavigationSettings(),
    )
    assert graph.text(found.completed[0].trace[-1]) == texts[-1]


def test_equal_scores_are_resolved_by_node_order(graph_of, encoder):
    graph = graph_of(["red fox runs", "blue whale swims", "old sea sky"])
    found = navigate(graph, np.zeros(len(graph), np.float32), lambda traces: [0.5] * len(traces), NavigationSettings())
    traces = [done.trace for done in found.completed]
    assert traces == sorted(traces)
    assert traces[0][1] == min(graph.children(graph.root))


def test_the_best_completed_trace_is_first(graph_of, encoder):
    graph = graph_of(["red fox runs", "blue whale swims"])
    target = next(n for n in graph.evidence_nodes if "whale" in graph.text(n))
    found = navigate(
        graph,
        query(graph, encoder),
        lambda traces: [0.9 if "whale" in graph.text(t[-1]) else 0.1 for t in traces],
        NavigationSettings(),
    )
    assert found.completed[0].trace[-1] == target


def test_traces_that_share_their_end_are_all_kept_and_scored_once(graph_of, encoder, tight):
    texts = ["a b c d", "a b c e", "c d e f", "e f g h", "e f g a"]
    graph = graph_of(texts)
    shared = [n for n in graph.evidence_nodes if len(graph.parents(n)) == 2]
    assert shared
    wide = NavigationSettings(branch=8, beam=64, candidates=64)
    graded = Graded()
    found = navigate(graph, query(graph, encoder), graded, wide)
    ends = [done.trace[-1] for done in found.completed]
    assert any(ends.count(node) > 1 for node in shared)
    assert all(len({t[-1] for t in call}) == len(call) for call in graded.calls)


def test_all_evidence_avoided_serves_again(graph_of, encoder):
    graph = graph_of(["red fox"])
    assert exhausted(graph, graph.evidence_nodes) == frozenset()
    found = navigate(graph, query(graph, encoder), Graded(), NavigationSettings(), avoid=[1])
    assert found.completed[0].trace[-1] == 1


@pytest.mark.parametrize("answer", [[], [0.1] * 99, [math.nan], [math.inf], [-math.inf]])
def test_a_scorer_that_answers_badly_is_an_error(graph_of, encoder, answer):
    graph = graph_of(["red fox"])
    with pytest.raises(ValueError, match="the scorer"):
        navigate(graph, query(graph, encoder), lambda traces: answer, NavigationSettings())


@settings(max_examples=40)
@given(texts=COLLECTIONS, question=st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_a_node_read_by_its_evidence_is_as_near_as_the_nearest_below_it(graph_of, encoder, texts, question):
    graph = graph_of(texts)
    vector = encoder.encode_queries([question])[0]
    cosines = graph.cosines(vector, "evidence")
    for node in range(len(graph)):
        below = [graph.node_of(evidence_id) for evidence_id in graph.provenance(node)]
        assert cosines[node] == pytest.approx(max(float(graph.vector(leaf) @ vector) for leaf in below), abs=1e-5)


@settings(max_examples=40)
@given(texts=COLLECTIONS, question=st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_read_by_evidence_a_traversal_ends_at_the_nearest_evidence(graph_of, encoder, tight, texts, question):
    graph = graph_of(texts)
    vector = encoder.encode_queries([question])[0]
    limits = tight.navigation.model_copy(update={"reading": "evidence", "candidates": 64})
    cosines = graph.cosines(vector, "evidence")
    found = navigate(graph, cosines, lambda traces: [float(cosines[trace[-1]]) for trace in traces], limits)
    leaves = [float(cosines[node]) for node in graph.evidence_nodes]
    assert cosines[found.completed[0].trace[-1]] == max(leaves)
