"""The graph: a node for each phrase and each passage, edges for facts, mentions and synonyms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import igraph
import numpy as np
import numpy.typing as npt

from programs.methods.hipporag2.openie import Triple
from programs.methods.hipporag2.synonymy import Synonyms

BOTH_WAYS = 2.0
"""What a fact adds to the edge of its two phrases. The published graph has +1 in each direction for a fact, and a
mention in one direction only; it is undirected, so the two directions of a fact add up."""
MENTION = 1.0
"""The weight of the edge between a passage and a phrase of its triples."""


class Fact(NamedTuple):
    """A triple whose ends are phrase nodes."""

    subject: int
    relation: str
    object: int


@dataclass(frozen=True)
class FactBase:
    """What was extracted, with each phrase and each fact once, in the order of first mention."""

    triples: tuple[tuple[Triple, ...], ...]
    """By passage."""
    phrases: tuple[str, ...]
    facts: tuple[Fact, ...]

    def text(self, fact: Fact) -> str:
        """Write a fact out, as the encoder and the recognition memory read it."""
        return " ".join((self.phrases[fact.subject], fact.relation, self.phrases[fact.object]))


def fact_base(triples: Sequence[Sequence[Triple]]) -> FactBase:
    """Number the phrases and the facts."""
    ends = (end for passage in triples for subject, _, object_ in passage for end in (subject, object_))
    number = {phrase: n for n, phrase in enumerate(dict.fromkeys(ends))}
    facts = dict.fromkeys(Fact(number[s], relation, number[o]) for passage in triples for s, relation, o in passage)
    return FactBase(tuple(tuple(passage) for passage in triples), tuple(number), tuple(facts))


@dataclass(frozen=True)
class PhraseGraph:
    """Undirected and weighted. The phrases are its first vertices, the passages the rest, both in their order."""

    graph: igraph.Graph
    phrases: int
    spread: npt.NDArray[np.int64]
    """How many passages name each phrase."""

    @property
    def passages(self) -> int:
        """The number of passage nodes."""
        return int(self.graph.vcount()) - self.phrases


def link(base: FactBase, synonyms: Synonyms, passages: int) -> PhraseGraph:
    """Connect phrases that share a fact, passages with their phrases, and synonyms. Edges of one pair add up.

    A pair that is both a fact and synonyms keeps both weights, where the published code lets the cosine replace the
    count.
    """
    number = {phrase: n for n, phrase in enumerate(base.phrases)}
    count = len(base.phrases)
    stated = [(number[s], number[o]) for passage in base.triples for s, _, o in passage if s != o]
    mentions = [
        (n, count + at)
        for at, passage in enumerate(base.triples)
        for n in dict.fromkeys(number[end] for s, _, o in passage for end in (s, o))
    ]
    edges = [pair_array(stated), pair_array(mentions), synonyms.pairs]
    weights = [np.full(len(stated), BOTH_WAYS), np.full(len(mentions), MENTION), synonyms.cosines]
    graph = weighted_graph(np.concatenate(edges), np.concatenate(weights), count + passages)
    spread = np.bincount(pair_array(mentions)[:, 0], minlength=count)
    return PhraseGraph(graph, count, spread)


def pair_array(pairs: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Give pairs as an array of two columns, also where there are none."""
    return np.asarray(pairs, dtype=np.int64).reshape(-1, 2)


def weighted_graph(edges: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], nodes: int) -> igraph.Graph:
    """Make an undirected graph with one edge a pair, its weight the sum over the pair's edges."""
    graph = igraph.Graph(n=nodes, edges=edges, directed=False)
    graph.es["weight"] = weights.tolist()
    return graph.simplify(combine_edges="sum")
