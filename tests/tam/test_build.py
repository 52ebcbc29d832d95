"""The graph that construction gives, on random collections and on known ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.contract import Contract, Limits
from programs.errors import InputError
from programs.settings import Settings
from programs.state import NodeType, Role, State
from programs.tam.graph import BrokenGraph, TypedGraph
from signatures.planner import Plan

WORDS = st.sampled_from(["red", "blue", "fox", "whale", "runs", "swims", "in", "the", "and", "sea"])
COLLECTIONS = st.lists(st.lists(WORDS, min_size=1, max_size=30).map(" ".join), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(texts=COLLECTIONS)
def test_every_built_graph_keeps_the_structural_invariants(graph_of, tight, texts):
    graph = graph_of(texts)
    graph.check()
    kinds = list(dict.fromkeys(graph.parts.types))
    assert kinds == [NodeType.ROOT, NodeType.EVIDENCE, NodeType.RELATION, NodeType.TOPIC]
    assert len(graph.children(graph.root)) <= max(tight.navigation.candidates // 2, tight.tam.topic_members)
    for node in range(1, len(graph)):
        assert 1 <= len(graph.parents(node)) <= tight.tam.parents
        assert all(graph.has_edge(parent, node) and node in graph.children(parent) for parent in graph.parents(node))


@settings(max_examples=40, deadline=None)
@given(texts=COLLECTIONS)
def test_a_region_opens_with_its_node_and_holds_related_evidence_nearest_first(graph_of, tight, texts):
    graph = graph_of(texts)
    for node in graph.evidence_nodes:
        region = graph.region(node)
        assert region[0] == node
        assert len(region) <= tight.tam.region_size
        siblings = {child for parent in graph.parents(node) for child in graph.children(parent)}
        source = graph.record(node, 0).source_id
        beside = {
            n for n in (node - 1, node + 1) if n in graph.evidence_nodes and graph.record(n, 0).source_id == source
        }
        assert set(region) <= siblings | beside | {node}
        assert len(region) == min(tight.tam.region_size, len(siblings | beside | {node}))
        cosines = [round(float(graph.vector(node) @ graph.vector(other)), 4) for other in region[1:]]
        assert cosines == sorted(cosines, reverse=True)


def test_by_the_rule_names_a_region_first_holds_what_its_node_leads_to_by_name(graph_of, tight):
    texts = [
        "The Amber Road\n\nIt was directed by Ysolde Marrane, and shown in Quarrow Hall.",
        "Quarrow Hall was built of stone.",
        "Ysolde Marrane\n\nShe studied law and went to sea.",
    ]
    tam = tight.tam.model_copy(update={"region_rule": "names", "region_tokens": 40, "region_size": 5})
    graph = graph_of(texts, tight.model_copy(update={"tam": tam}))

    assert graph.region(1)[:3] == (1, 3, 2)  # the heading that it names, then the name that it shares
    graph.check()


@settings(max_examples=30, deadline=None)
@given(texts=COLLECTIONS)
def test_records_are_the_source_at_their_offsets_and_are_found_by_id(graph_of, collect, texts):
    graph, sources = graph_of(texts), collect(texts).texts
    for node in graph.evidence_nodes:
        record = graph.record(node, 1)
        assert sources[record.source_id][record.start : record.end] == record.text == graph.text(node)
        assert graph.node_of(record.evidence_id) == node
        assert graph.provenance(node) == (record.evidence_id,)
    assert graph.provenance(graph.root) == tuple(graph.record(node, 1).evidence_id for node in graph.evidence_nodes)


def test_two_builds_of_one_collection_are_equal(graph_of):
    texts = ["red fox runs in the sea", "blue whale swims", "red fox swims and runs"]
    one, other = graph_of(texts).parts, graph_of(texts).parts
    assert np.array_equal(one.vectors, other.vectors)
    assert dataclasses.replace(one, vectors=other.vectors) == other


def test_each_layer_is_encoded_in_one_batch_and_singletons_not_at_all(graph_of, encoder):
    encoder.batches.clear()
    graph = graph_of(["red fox", "red fox runs", "blue whale", "sea"])
    layers = 1 + graph.depth - 1
    assert len(encoder.batches) <= layers
    groups = [n for n in range(1, len(graph)) if len(graph.children(n)) > 1]
    assert sum(len(batch) for batch in encoder.batches) == graph.leaves + len(groups)


def distinct_texts(count):
    return [f"w{3 * i} w{3 * i + 1} w{3 * i + 2}" for i in range(count)]


def test_a_wide_root_is_deepened_until_its_fan_out_fits_and_hmax_can_follow(graph_of, tight):
    graph = graph_of(distinct_texts(40))
    assert graph.depth > 3
    assert len(graph.children(graph.root)) <= tight.navigation.candidates // 2
    flat = graph_of(
        distinct_texts(40), tight.model_copy(update={"tam": tight.tam.model_copy(update={"deepen": False})})
    )
    assert flat.depth == 3
    assert len(flat.children(flat.root)) > tight.navigation.candidates // 2


def test_a_tiny_candidate_budget_does_not_deepen_for_ever(graph_of, tight):
    settings = tight.model_copy(update={"navigation": tight.navigation.model_copy(update={"candidates": 1})})
    graph = graph_of(distinct_texts(30), settings)
    assert len(graph.children(graph.root)) <= tight.tam.topic_members


def test_a_collection_without_words_is_refused(graph_of):
    with pytest.raises(InputError, match="no text"):
        graph_of(["", "  \n"])
    with pytest.raises(InputError, match="no text"):
        graph_of([])


def test_unknown_nodes_have_no_type_no_edge_and_no_region(graph_of):
    graph = graph_of(["red fox"])
    for node in (-1, -4, len(graph), 10**30):
        assert graph.node_type(node) is None
        assert not graph.has_edge(node, 1)
        assert not graph.has_edge(1, node)
        assert graph.region(node) == ()
        assert graph.region_ids(node) == ()
    assert graph.region(graph.root) == ()
    assert graph.node_of("elsewhere#0-1") is None
    with pytest.raises(ValueError, match="only Evidence"):
        graph.record(graph.root, 1)


def test_vectors_of_a_graph_can_not_be_written(graph_of):
    with pytest.raises(ValueError, match="read-only"):
        graph_of(["red fox"]).vector(1)[0] = 9.0


def test_the_contract_accepts_a_trace_of_the_graph_and_evidence_of_its_region(graph_of, collect):
    texts = ["red fox runs in the sea", "red fox swims"]
    graph = graph_of(texts)
    contract = Contract(graph, collect(texts).texts, Limits(), lambda artifact: False)
    trace = [1]
    while trace[0] != graph.root:
        trace.insert(0, graph.parents(trace[0])[0])
    plan = Plan(objective="find the fox", targets=("fox",))
    state = State()
    for role, value in (
        (Role.PLANNER, plan),
        (Role.NAVIGATOR, (tuple(trace),)),
        (Role.RETRIEVER, tuple(graph.record(node, 1) for node in graph.region(1))),
    ):
        state = contract.commit(state, role, value, 1)
        assert isinstance(state, State)


def broken(parts, **change):
    return TypedGraph(dataclasses.replace(parts, **change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: {"edges": (*p.edges, p.edges[-1])}, "repeated"),
        (lambda p: {"edges": p.edges[:-1]}, "reached|leads to no"),
        (lambda p: {"edges": (*p.edges, (1, 2))}, "not admissible"),
        (lambda p: {"edges": (*p.edges, p.edges[-1][::-1])}, "cycle"),
        (lambda p: {"tam": p.tam.model_copy(update={"relation_members": 1})}, "children"),
        (lambda p: {"tam": p.tam.model_copy(update={"parents": 0})}, "parents"),
        (lambda p: {"rho": (*p.rho[:-1], (1,))}, "region"),
        (lambda p: {"texts": ("", "another", *p.texts[2:])}, "its region"),
        (lambda p: {"types": (NodeType.TOPIC, *p.types[1:])}, "out of its place"),
        (lambda p: {"regions": (p.regions[1], *p.regions[1:])}, "repeated"),
        (lambda p: {"vectors": p.vectors[:-1].copy()}, "one length"),
    ],
)
def test_check_finds_each_broken_invariant(graph_of, change, message):
    parts = graph_of(["red fox runs", "red fox runs", "red fox runs"]).parts
    with pytest.raises(BrokenGraph, match=message):
        broken(parts, **change(parts)).check()


def test_an_edge_to_nowhere_is_refused(graph_of):
    parts = graph_of(["red fox"]).parts
    for edge in ((0, 99), (-1, 1)):
        with pytest.raises(BrokenGraph, match="names a node"):
            broken(parts, edges=(*parts.edges, edge))


def test_the_papers_settings_build_a_graph_of_depth_three(graph_of):
    paper = Settings()
    paper = paper.model_copy(update={"tam": paper.tam.model_copy(update={"deepen": False})})
    graph = graph_of([" ".join(f"w{i % 50}" for i in range(1000))], paper)
    assert graph.depth == 3
    assert graph.leaves == 3
