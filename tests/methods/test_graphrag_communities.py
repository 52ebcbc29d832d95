"""The hierarchy of communities: nesting, the cap, the seed, and how good the top level is."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.methods.graphrag.communities import find_communities
from programs.methods.graphrag.settings import GraphragSettings

DEFAULTS = GraphragSettings()
WHOLE = GraphragSettings(largest_component=False)


@st.composite
def graphs(draw):
    nodes = draw(st.integers(1, 40))
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda pair: pair[0] < pair[1])
    chosen = draw(st.lists(pairs, unique=True, max_size=120)) if nodes > 1 else []
    return nodes, [(a, b, draw(st.floats(1, 20))) for a, b in chosen]


def cliques(sizes, bridge=1.0):
    """Cliques in a row, each joined to the next by one edge."""
    edges, first, start = [], [], 0
    for size in sizes:
        edges += [(a, b, 5.0) for a, b in combinations(range(start, start + size), 2)]
        first.append(start)
        start += size
    edges += [(a, b, bridge) for a, b in pairwise(first)]
    return start, edges


def leaves(communities):
    parents = {community.parent for community in communities}
    return [community for number, community in enumerate(communities) if number not in parents]


def modularity(nodes, edges, parts):
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_weighted_edges_from(edges)
    return nx.community.modularity(graph, parts)


@given(graphs(), st.integers(2, 12))
@settings(deadline=None)
def test_each_community_is_divided_into_disjoint_parts_that_make_it_up(graph, size):
    nodes, edges = graph
    communities = find_communities(nodes, edges, GraphragSettings(largest_component=False, cluster_size=size))
    children = defaultdict(list)
    for number, community in enumerate(communities):
        assert community.members
        children[community.parent].append(community)
        if community.parent is None:
            assert community.level == 0
        else:
            assert community.parent < number
            assert community.level == communities[community.parent].level + 1
            assert len(communities[community.parent].members) > size
    joined = {node for a, b, _ in edges for node in (a, b)}
    for parent, parts in children.items():
        whole = joined if parent is None else set(communities[parent].members)
        members = [node for part in parts for node in part.members]
        assert len(members) == len(set(members))
        assert set(members) == whole
        assert parent is None or len(parts) > 1


@given(graphs())
@settings(deadline=None)
def test_every_community_is_connected(graph):
    nodes, edges = graph
    known = nx.Graph()
    known.add_weighted_edges_from(edges)
    for community in find_communities(nodes, edges, WHOLE):
        assert nx.is_connected(known.subgraph(community.members))


@given(st.lists(st.integers(3, 10), min_size=1, max_size=12))
@settings(deadline=None)
def test_where_a_graph_can_be_divided_every_last_community_is_within_the_cap(sizes):
    nodes, edges = cliques(sizes)
    communities = find_communities(nodes, edges, DEFAULTS)
    assert all(len(community.members) <= DEFAULTS.cluster_size for community in leaves(communities))
    assert sorted(node for community in leaves(communities) for node in community.members) == list(range(nodes))


def test_a_clique_above_the_cap_stays_whole_because_no_division_is_better():
    nodes, edges = cliques([15])
    (community,) = find_communities(nodes, edges, DEFAULTS)
    assert (community.level, community.parent, community.members) == (0, None, tuple(range(15)))


def test_the_largest_component_alone_has_communities_unless_all_are_asked_for():
    small, large = cliques([3]), cliques([4])
    edges = [*small[1], *((a + 3, b + 3, weight) for a, b, weight in large[1])]
    assert [c.members for c in find_communities(8, edges, DEFAULTS)] == [(3, 4, 5, 6)]
    assert [c.members for c in find_communities(8, edges, WHOLE)] == [(0, 1, 2), (3, 4, 5, 6)]


def test_of_equal_components_the_first_is_the_largest():
    edges = [(2, 3, 1.0), (0, 1, 1.0)]
    assert [c.members for c in find_communities(4, edges, DEFAULTS)] == [(0, 1)]


@pytest.mark.parametrize("nodes", [0, 1, 5])
@pytest.mark.parametrize("given_settings", [DEFAULTS, WHOLE])
def test_nodes_without_edges_are_in_no_community(nodes, given_settings):
    assert find_communities(nodes, [], given_settings) == ()


def random_graph(nodes=300, edges=900, seed=3):
    made = nx.gnm_random_graph(nodes, edges, seed=seed)
    return nodes, [(a, b, 1.0) for a, b in sorted(made.edges)]


def test_the_same_seed_gives_the_same_communities_whatever_was_drawn_before():
    nodes, edges = random_graph()
    random.seed(1)
    first = find_communities(nodes, edges, DEFAULTS)
    random.seed(2)
    assert find_communities(nodes, edges, DEFAULTS) == first
    assert find_communities(nodes, edges, GraphragSettings(seed=5)) != first


def test_the_process_wide_generator_is_left_as_it_was():
    import igraph

    random.seed(7)
    state = random.getstate()
    find_communities(*random_graph(), DEFAULTS)
    assert random.getstate() == state
    igraph.Graph.Erdos_Renyi(n=20, m=30)
    assert random.getstate() != state, "igraph draws from Python's generator again"


def test_a_fault_inside_leiden_still_gives_the_generator_back(monkeypatch):
    import igraph

    def broken(*args, **kwargs):
        raise ValueError("no")

    monkeypatch.setattr("programs.methods.graphrag.communities.divide", broken)
    with pytest.raises(ValueError, match="no"):
        find_communities(*cliques([4]), DEFAULTS)
    state = random.getstate()
    igraph.Graph.Erdos_Renyi(n=20, m=30)
    assert random.getstate() != state


@pytest.mark.parametrize("known", [nx.karate_club_graph, nx.les_miserables_graph, nx.davis_southern_women_graph])
def test_the_top_level_is_as_modular_as_other_algorithms_find(known):
    graph = nx.convert_node_labels_to_integers(known())
    edges = [(min(a, b), max(a, b), float(w)) for a, b, w in graph.edges.data("weight", default=1)]
    communities = find_communities(len(graph), edges, DEFAULTS)
    ours = modularity(len(graph), edges, [set(c.members) for c in communities if c.level == 0])
    louvain = modularity(len(graph), edges, nx.community.louvain_communities(graph, seed=0))
    greedy = modularity(len(graph), edges, nx.community.greedy_modularity_communities(graph, weight="weight"))
    assert ours >= max(louvain, greedy) - 0.02


def test_heavier_relationships_hold_entities_together():
    edges = [(0, 1, 9.0), (2, 3, 9.0), (0, 2, 1.0), (1, 3, 1.0)]
    assert [c.members for c in find_communities(4, edges, DEFAULTS)] == [(0, 1), (2, 3)]
    turned = [(0, 1, 1.0), (2, 3, 1.0), (0, 2, 9.0), (1, 3, 9.0)]
    assert [c.members for c in find_communities(4, turned, DEFAULTS)] == [(0, 2), (1, 3)]
