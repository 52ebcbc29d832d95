"""The typed graph ℋ = ⟨V, E, root, λ, a, ρ⟩.

igraph holds the graph and answers the structural questions (acyclic, reachable, topological order). What a traversal
asks thousands of times is kept in plain tuples beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import igraph
import numpy as np

from programs.models.encoders.encoder import Vectors
from programs.settings import TamSettings
from programs.state import ADMISSIBLE, EvidenceRecord, NodeType
from programs.tam.group import DIGITS
from programs.tam.segment import Segment

Edge = tuple[int, int]
Nodes = tuple[int, ...]


class BrokenGraph(ValueError):
    """A structural invariant does not hold; says which, and at which node."""


@dataclass(frozen=True)
class GraphParts:
    """What a graph is made of, and what the store keeps. Nodes: root, Evidence, Relations, Topics layer by layer."""

    regions: tuple[Segment, ...]
    types: tuple[NodeType, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    edges: tuple[Edge, ...]
    rho: tuple[Nodes, ...]
    """ρ of each Evidence node, in node order."""
    tam: TamSettings
    fallbacks: int = 0
    """Abstractions that carry the lead text because the model's could not be used."""


class TypedGraph:
    """A rooted, typed directed acyclic graph over the Evidence of one collection. Satisfies `contract.TypedPaths`."""

    root = 0

    def __init__(self, parts: GraphParts) -> None:
        if any(not 0 <= node < len(parts.types) for edge in parts.edges for node in edge):
            raise BrokenGraph("an edge names a node that there is not")
        parts.vectors.setflags(write=False)
        self.parts = parts
        self.igraph = igraph.Graph(n=len(parts.types), edges=parts.edges, directed=True)
        self._children = _neighbours(len(parts.types), parts.edges)
        self._parents = _neighbours(len(parts.types), [(child, parent) for parent, child in parts.edges])
        self._edges = frozenset(parts.edges)
        self._nodes = {region.evidence_id: node for node, region in enumerate(parts.regions, start=1)}
        self._ids = ("", *self._nodes)

    def __len__(self) -> int:
        return len(self.parts.types)

    @property
    def leaves(self) -> int:
        """How many Evidence nodes there are, which the compact-evidence check counts."""
        return len(self.parts.regions)

    @property
    def evidence_nodes(self) -> range:
        """The Evidence nodes, in source order."""
        return range(1, self.leaves + 1)

    @property
    def fallbacks(self) -> int:
        """How many abstractions carry the lead text because the model's could not be used."""
        return self.parts.fallbacks

    @property
    def vectors(self) -> Vectors:
        """One row a node; the root's is zero."""
        return self.parts.vectors

    @cached_property
    def depth(self) -> int:
        """The edges of the longest trace from the root to an Evidence node: hmax must allow as many."""
        height = [0] * len(self)
        for node in reversed(self.igraph.topological_sorting()):
            height[node] = max((1 + height[child] for child in self._children[node]), default=0)
        return height[self.root]

    def cosines(self, vector: Vectors, reading: Literal["abstraction", "evidence"]) -> Vectors:
        """Compare a vector with every node: with its abstraction's own, or with the nearest Evidence below it.

        An abstraction of several unlike texts is near to none of the questions that one of them answers.
        """
        found: Vectors = np.round(self.parts.vectors @ vector, DIGITS)
        if reading == "evidence":
            for node in self._from_below:
                found[node] = found[list(self._children[node])].max()
        return found

    @cached_property
    def _from_below(self) -> Nodes:
        """The nodes that have children, each after all that are below it."""
        return tuple(node for node in reversed(self.igraph.topological_sorting()) if self._children[node])

    def node_type(self, node: int) -> NodeType | None:
        """Give λ(node), or None where there is no such node."""
        return self.parts.types[node] if 0 <= node < len(self.parts.types) else None

    def has_edge(self, parent: int, child: int) -> bool:
        """Tell whether the graph has this directed edge; of unknown nodes it has none."""
        return (parent, child) in self._edges

    def children(self, node: int) -> Nodes:
        """Give the children in stable node order."""
        return self._children[node]

    def parents(self, node: int) -> Nodes:
        """Give the parents in stable node order."""
        return self._parents[node]

    def text(self, node: int) -> str:
        """Give a(node)."""
        return self.parts.texts[node]

    def vector(self, node: int) -> Vectors:
        """Give the vector of a(node)."""
        vector: Vectors = self.parts.vectors[node]
        return vector

    def region(self, node: int) -> Nodes:
        """Give ρ(node): the node, then related Evidence nodes, nearest first. Only Evidence nodes have one."""
        return self.parts.rho[node - 1] if 1 <= node <= self.leaves else ()

    def region_ids(self, node: int) -> tuple[str, ...]:
        """Give the evidence ids of ρ(node)."""
        return tuple(self._ids[member] for member in self.region(node))

    def node_of(self, evidence_id: str) -> int | None:
        """Find an Evidence node by its id; None where this collection has no such region."""
        return self._nodes.get(evidence_id)

    def record(self, node: int, cycle: int) -> EvidenceRecord:
        """Give an Evidence node as a record that a cycle proposes."""
        if not 1 <= node <= self.leaves:
            raise ValueError(f"node {node} is a {self.node_type(node)} node; only Evidence becomes a record")
        r = self.parts.regions[node - 1]
        return EvidenceRecord(
            evidence_id=self._ids[node], source_id=r.source_id, start=r.start, end=r.end, text=r.text, cycle=cycle
        )

    def provenance(self, node: int) -> tuple[str, ...]:
        """Give the ids of the evidence that a node stands on: its own, or those of all Evidence below it."""
        below, pending = {node}, [node]
        while pending:
            fresh = [child for child in self._children[pending.pop()] if child not in below]
            below.update(fresh)
            pending.extend(fresh)
        return tuple(self._ids[member] for member in sorted(below) if 1 <= member <= self.leaves)

    def check(self) -> None:
        """Raise `BrokenGraph` unless every structural invariant holds."""
        _check_nodes(self)
        _check_edges(self)
        _check_regions(self)


def _neighbours(count: int, edges: Sequence[Edge]) -> tuple[Nodes, ...]:
    lists: list[list[int]] = [[] for _ in range(count)]
    for node, other in edges:
        lists[node].append(other)
    return tuple(tuple(sorted(neighbours)) for neighbours in lists)


def _check_nodes(graph: TypedGraph) -> None:
    parts, leaves = graph.parts, graph.leaves
    if not (len(parts.types) == len(parts.texts) == len(parts.vectors) and len(parts.rho) == leaves):
        raise BrokenGraph("types, texts, vectors and regions are not of one length")
    if len(graph._nodes) != leaves:
        raise BrokenGraph("an evidence id is repeated")
    for node, kind in enumerate(parts.types):
        if (node == graph.root) != (kind is NodeType.ROOT) or (1 <= node <= leaves) != (kind is NodeType.EVIDENCE):
            raise BrokenGraph(f"node {node} is a {kind} node out of its place")
        if kind is NodeType.EVIDENCE and parts.texts[node] != parts.regions[node - 1].text:
            raise BrokenGraph(f"the text of Evidence node {node} is not its region's")


def _check_edges(graph: TypedGraph) -> None:
    parts = graph.parts
    if len(graph._edges) != len(parts.edges):
        raise BrokenGraph("an edge is repeated")
    if not graph.igraph.is_dag():
        raise BrokenGraph("the graph has a cycle")
    if len(graph.igraph.subcomponent(graph.root, mode="out")) != len(graph):
        raise BrokenGraph("a node can't be reached from the root")
    for parent, child in parts.edges:
        if (parts.types[parent], parts.types[child]) not in ADMISSIBLE:
            raise BrokenGraph(f"{parts.types[parent]} {parent} → {parts.types[child]} {child} is not admissible")
    caps = {NodeType.RELATION: parts.tam.relation_members, NodeType.TOPIC: parts.tam.topic_members}
    for node, kind in enumerate(parts.types):
        if len(graph.parents(node)) > parts.tam.parents:
            raise BrokenGraph(f"node {node} has {len(graph.parents(node))} parents; {parts.tam.parents} are allowed")
        if len(graph.children(node)) > caps.get(kind, len(graph)):
            raise BrokenGraph(f"{kind} node {node} has {len(graph.children(node))} children; {caps[kind]} are allowed")
        if kind is not NodeType.EVIDENCE and not graph.children(node):
            raise BrokenGraph(f"{kind} node {node} leads to no Evidence")


def _check_regions(graph: TypedGraph) -> None:
    for node, region in zip(graph.evidence_nodes, graph.parts.rho, strict=True):
        if region[:1] != (node,) or len(set(region)) != len(region) or len(region) > graph.parts.tam.region_size:
            raise BrokenGraph(f"the region of node {node} does not open with it, repeats a node, or is too large")
        if any(member not in graph.evidence_nodes for member in region):
            raise BrokenGraph(f"the region of node {node} has a node that is not Evidence")
