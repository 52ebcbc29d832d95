"""HippoRAG 2's graph by itself: phrases, edges, synonyms, seeds and the walk, against a second implementation."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from programs.methods.hipporag2 import synonymy
from programs.methods.hipporag2.openie import clean, list_names, phrase
from programs.methods.hipporag2.phrase_graph import Fact, PhraseGraph, fact_base, link, weighted_graph
from programs.methods.hipporag2.rank import min_max, passage_scores, phrase_weights, seeds
from programs.methods.hipporag2.recognition import nearest_facts, numbered_facts, recognised
from programs.methods.hipporag2.synonymy import Synonyms, find_synonyms

NO_SYNONYMS = Synonyms(np.empty((0, 2), np.int64), np.empty(0))
FILM = (
    (("anna lind", "directed", "red harbour"),),
    (("anna lind", "born in", "oslo"),),
)


def edges(graph: PhraseGraph) -> dict[tuple[int, int], float]:
    return {edge.tuple: edge["weight"] for edge in graph.graph.es}


def test_spellings_of_a_name_are_one_phrase():
    assert phrase(" Anna-Lind, ") == phrase("ANNA LIND") == phrase("anna\tlind.") == "anna lind"
    assert phrase("STRASSE") == phrase("Straße")
    assert phrase("Café") == phrase("Cafe\u0301")


@pytest.mark.parametrize("name", ["東京", "القاهرة", "हिन्दी", "Владивосток", "4 July 1961"])
def test_names_of_other_scripts_and_dates_keep_their_letters(name):
    assert phrase(name).replace(" ", "") == phrase(name.replace(" ", ""))
    assert len(phrase(name)) == len(name)


@given(st.text(max_size=40))
def test_a_phrase_is_its_own_phrase(text):
    assert phrase(phrase(text)) == phrase(text)


def test_triples_are_given_once_and_those_without_an_end_are_dropped():
    said = [("Anna Lind", "Directed", "Red Harbour"), ("anna lind", "directed", "red harbour!"), ("...", "is", "x")]
    assert clean(said) == (("anna lind", "directed", "red harbour"),)


def test_names_are_listed_once_and_their_absence_is_said():
    assert list_names(["Oslo", " Oslo ", "", "Paris, Texas"]) == "Oslo; Paris, Texas"
    assert list_names([" "]) == "none"


def test_a_fact_of_two_passages_is_one_fact_and_its_phrases_one_node_each():
    base = fact_base([*FILM, FILM[0]])
    assert base.phrases == ("anna lind", "red harbour", "oslo")
    assert base.facts == (Fact(0, "directed", 1), Fact(0, "born in", 2))
    assert base.text(base.facts[1]) == "anna lind born in oslo"


def test_facts_mentions_and_passages_are_the_edges_of_the_graph():
    graph = link(fact_base(FILM), NO_SYNONYMS, passages=3)
    assert (graph.phrases, graph.passages) == (3, 3)
    assert edges(graph) == {(0, 1): 2, (0, 2): 2, (0, 3): 1, (1, 3): 1, (0, 4): 1, (2, 4): 1}
    assert graph.spread.tolist() == [2, 1, 1]


def test_co_occurrences_add_up_and_a_passage_mentions_a_phrase_once():
    said = (("a1", "is", "b1"), ("b1", "knows", "a1"), ("a1", "is", "a1"))
    graph = link(fact_base([said, said[:1]]), NO_SYNONYMS, passages=2)
    assert edges(graph) == {(0, 1): 6, (0, 2): 1, (1, 2): 1, (0, 3): 1, (1, 3): 1}
    assert graph.spread.tolist() == [2, 2]


def test_synonyms_join_phrases_and_add_to_a_fact_between_them():
    synonyms = Synonyms(np.array([[0, 1], [1, 0], [1, 2]]), np.array([0.9, 0.9, 0.8]))
    weights = edges(link(fact_base(FILM), synonyms, passages=2))
    assert weights[0, 1] == pytest.approx(2 + 1.8)
    assert weights[1, 2] == pytest.approx(0.8)


def test_a_graph_without_facts_has_passages_alone_and_the_walk_stays_at_the_seeds():
    graph = link(fact_base([(), ()]), NO_SYNONYMS, passages=3)
    assert (graph.phrases, graph.passages, edges(graph)) == (0, 3, {})
    assert passage_scores(graph, np.array([1.0, 0.0, 3.0]), 0.5) == pytest.approx([0.25, 0, 0.75])


def test_min_max_spreads_scores_over_the_unit_interval_and_equals_are_ones():
    assert min_max(np.array([2.0, 4.0, 3.0])).tolist() == [0, 1, 0.5]
    assert min_max(np.array([0.3, 0.3])).tolist() == [1, 1]
    assert min_max(np.empty(0)).tolist() == []


def test_a_phrase_weighs_the_mean_of_its_facts_over_the_passages_that_name_it():
    base = fact_base(FILM)
    facts = list(zip(base.facts, (1.0, 0.5), strict=True))
    spread = np.array([2, 1, 1])
    assert phrase_weights(facts, spread, top=5) == {1: 1.0, 2: 0.5, 0: 0.375}
    assert phrase_weights(facts, spread, top=2) == {1: 1.0, 2: 0.5}


def test_of_phrases_that_weigh_the_same_the_better_facts_are_kept():
    facts = [(Fact(5, "is", 2), 0.5), (Fact(1, "is", 0), 0.5)]
    assert list(phrase_weights(facts, np.ones(6, np.int64), top=3)) == [5, 2, 1]


def test_the_walk_from_hand_worked_seeds_agrees_with_solving_its_equations():
    graph = link(fact_base(FILM), NO_SYNONYMS, passages=3)
    reset = seeds({1: 1.0, 2: 0.5}, np.array([0.05, 0.0, 0.025]), graph)
    assert reset.tolist() == [0, 1, 0.5, 0.05, 0, 0.025]
    weights = np.zeros((6, 6))
    for (i, j), weight in edges(graph).items():
        weights[i, j] = weights[j, i] = weight
    start = reset / reset.sum()
    out = weights.sum(axis=0)
    step = np.divide(weights, out, out=np.tile(start[:, None], (1, 6)), where=out > 0)
    exact = np.linalg.solve(np.eye(6) - 0.5 * step, 0.5 * start)
    assert passage_scores(graph, reset, 0.5) == pytest.approx(exact[3:])


@st.composite
def walks(draw):
    nodes = draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda p: p[0] != p[1])
    pairs = draw(st.lists(pair, max_size=30)) if nodes > 1 else []
    weights = draw(hnp.arrays(np.float64, len(pairs), elements=st.floats(0.05, 10)))
    reset = draw(hnp.arrays(np.float64, nodes, elements=st.floats(0, 5)).filter(lambda r: r.sum() > 0.1))
    phrases = draw(st.integers(0, nodes - 1))
    return nodes, pairs, weights, reset, phrases, draw(st.floats(0.1, 0.9))


@settings(deadline=None)
@given(walks())
def test_the_walk_agrees_with_networkx(walk):
    nodes, pairs, weights, reset, phrases, damping = walk
    graph = weighted_graph(np.array(pairs, dtype=np.int64).reshape(-1, 2), weights, nodes)
    ours = passage_scores(PhraseGraph(graph, phrases, np.zeros(phrases, np.int64)), reset, damping)
    theirs = nx.MultiGraph()
    theirs.add_nodes_from(range(nodes))
    theirs.add_weighted_edges_from((i, j, w) for (i, j), w in zip(pairs, weights, strict=True))
    ranks = nx.pagerank(theirs, alpha=damping, personalization=dict(enumerate(reset)), tol=1e-12, max_iter=2000)
    assert ours == pytest.approx([ranks[node] for node in range(phrases, nodes)], abs=1e-6)


def neighbours_one_by_one(phrases, vectors, threshold, most, characters):
    """The definition, pair by pair."""
    found = {}
    for i, name in enumerate(phrases):
        if sum(c.isalnum() for c in name) < characters:
            continue
        near = [(-round(float(vectors[i] @ vectors[j]), 6), j) for j in range(len(phrases)) if j != i]
        for cosine, j in sorted(pair for pair in near if -pair[0] >= threshold)[:most]:
            found[i, j] = -cosine
    return found


NAMES = st.lists(st.sampled_from(["ab", "abc", "a b", "x1 y2", "東京"]), max_size=25)


@settings(deadline=None)
@given(
    names=NAMES,
    most=st.integers(0, 6),
    threshold=st.sampled_from([0.0, 0.5, 0.8]),
    seed=st.integers(0, 99),
    block=st.integers(1, 7),
)
def test_synonyms_are_the_nearest_at_or_above_the_threshold_whatever_the_block(names, most, threshold, seed, block):
    # quarters, whose products are exact: no rounding stands between the two implementations
    vectors = np.random.default_rng(seed).integers(-2, 4, (len(names), 4)).astype(np.float32) / 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synonymy, "BLOCK", block)
        found = find_synonyms(names, vectors, threshold, most, characters=3)
    pairs = [(int(i), int(j)) for i, j in found.pairs]
    expected = neighbours_one_by_one(names, vectors, threshold, most, 3)
    assert dict(zip(pairs, found.cosines.tolist(), strict=True)) == expected


def test_a_phrase_of_two_characters_asks_for_no_synonyms_but_may_be_found():
    vectors = np.ones((3, 1), np.float32)
    found = find_synonyms(["uk", "britain", "x"], vectors, 0.8, 100, characters=3)
    assert found.pairs.tolist() == [[1, 0], [1, 2]]


def test_the_nearest_facts_come_best_first_and_ties_in_order_of_mention():
    assert nearest_facts(np.array([0.2, 1.0, 0.2, 0.9]), top=3) == [1, 3, 0]
    assert nearest_facts(np.empty(0), top=3) == []


def test_facts_are_shown_by_number_and_numbers_that_were_not_shown_are_nobodys():
    base = fact_base(FILM)
    assert numbered_facts(base, [1, 0]) == "[1] anna lind born in oslo\n[2] anna lind directed red harbour"
    assert recognised([7, 4, 9], [3, 1, 3, 0, -1, 4, 10**9]) == [7, 9]
    assert recognised([7, 4, 9], []) == []
