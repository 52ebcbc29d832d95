"""Typed navigation (Algorithm 2): a beam search from the root to Evidence within B, K, Cmax and hmax."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from programs.models.encoders.encoder import Vectors
from programs.settings import NavigationSettings
from programs.state import ADMISSIBLE, NodeType, Trace
from programs.tam.graph import TypedGraph

Scorer = Callable[[Sequence[Trace]], Sequence[float]]
"""g: scores traces by their last node. Asked once a level, about each node once."""


@dataclass(frozen=True, slots=True)
class ScoredTrace:
    """A trace and g's opinion of where it ends."""

    trace: Trace
    score: float


@dataclass(frozen=True, slots=True)
class Navigation:
    """What a traversal found: 𝒬 best first, and what finding it cost."""

    completed: tuple[ScoredTrace, ...]
    scored: int
    levels: int
    seen: tuple[int, ...]
    """The Evidence nodes among those that were scored, in the order in which the levels reached them."""


def navigate(
    graph: TypedGraph,
    cosines: Vectors,
    score: Scorer,
    limits: NavigationSettings,
    budget: int | None = None,
    avoid: Collection[int] = (),
) -> Navigation:
    """Search for completed traces; none of them ends in `avoid` unless all Evidence is in it.

    `cosines` has one number a node, by which a level is thinned out before it is scored (`TypedGraph.cosines`).

    `budget` is this traversal's share of Cmax, where several share it. A budget too small to reach Evidence completes
    nothing.
    """
    left = limits.candidates if budget is None else min(budget, limits.candidates)
    closed = exhausted(graph, avoid)
    beam: list[ScoredTrace] = [ScoredTrace((graph.root,), 0.0)]
    completed: list[ScoredTrace] = []
    scored = levels = 0
    seen: dict[int, None] = {}
    for level in range(max(limits.depth, graph.depth)):
        extensions = [extension for held in beam for extension in admissible(graph, held.trace, closed)]
        # Cmax counts what is scored, so a wide root could spend it all before any Evidence is reached: a level may
        # spend an equal share of what is left, and what it does not need goes to the levels below.
        share = math.ceil((left - scored) / max(graph.depth - level, 1))
        nodes = select_budget(cosines, {extension[-1] for extension in extensions}, share)
        if not nodes:
            break
        scores = scores_by_node(score, extensions, nodes)
        scored += len(scores)
        seen.update((node, None) for node in nodes if graph.node_type(node) is NodeType.EVIDENCE)
        levels += 1
        kept = best_of_each_parent(extensions, scores, limits.branch)
        ended = [graph.node_type(found.trace[-1]) is NodeType.EVIDENCE for found in kept]
        completed.extend(found for found, done in zip(kept, ended, strict=True) if done)
        beam = [found for found, done in zip(kept, ended, strict=True) if not done][: limits.beam]
    return Navigation(tuple(sorted(completed, key=preference)), scored, levels, tuple(seen))


def preference(found: ScoredTrace) -> tuple[float, Trace]:
    """Order traces: higher score first, equal scores by stable node order."""
    return (-found.score, found.trace)


def exhausted(graph: TypedGraph, avoid: Collection[int]) -> frozenset[int]:
    """Give the nodes that lead to avoided Evidence only; none where that is all of it, since it must then serve again.

    Without the nodes above them, the beam would fill with the traces that were best before and end in nothing new.
    """
    closed = {node for node in avoid if graph.node_type(node) is NodeType.EVIDENCE}
    pending = sorted(closed)
    while pending:
        for parent in graph.parents(pending.pop()):
            if parent not in closed and all(child in closed for child in graph.children(parent)):
                closed.add(parent)
                pending.append(parent)
    return frozenset() if graph.root in closed else frozenset(closed)


def admissible(graph: TypedGraph, trace: Trace, closed: Collection[int]) -> list[Trace]:
    """Extend a trace by the children whose type pair is in 𝒜."""
    kind = graph.node_type(trace[-1])
    return [
        (*trace, child)
        for child in graph.children(trace[-1])
        if child not in closed and (kind, graph.node_type(child)) in ADMISSIBLE
    ]


def select_budget(cosines: Vectors, nodes: Collection[int], share: int) -> list[int]:
    """Keep the nodes most similar to the query, ties by node order: a cheap pre-rank."""
    ordered = sorted(nodes)
    if len(ordered) <= share or share <= 0:
        return ordered if share > 0 else []
    return sorted(ordered[i] for i in np.argsort(-cosines[ordered], kind="stable")[:share])


def scores_by_node(score: Scorer, extensions: Sequence[Trace], nodes: Sequence[int]) -> dict[int, float]:
    """Score each node once, by the first trace that reaches it: g reads the last node alone."""
    first: dict[int, Trace] = {}
    for extension in sorted(extensions):
        first.setdefault(extension[-1], extension)
    values = [float(value) for value in score([first[node] for node in nodes])]
    if len(values) != len(nodes):
        raise ValueError(f"the scorer was given {len(nodes)} traces and returned {len(values)} scores")
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"the scorer returned a score that is not a finite number: {values}")
    return dict(zip(nodes, values, strict=True))


def best_of_each_parent(extensions: Sequence[Trace], scores: Mapping[int, float], branch: int) -> list[ScoredTrace]:
    """Keep the best B scored extensions of each parent trace, all of them in order of preference."""
    found = [ScoredTrace(extension, scores[extension[-1]]) for extension in extensions if extension[-1] in scores]
    kept: list[ScoredTrace] = []
    taken: dict[Trace, int] = {}
    for candidate in sorted(found, key=preference):
        parent = candidate.trace[:-1]
        if taken.get(parent, 0) < branch:
            taken[parent] = taken.get(parent, 0) + 1
            kept.append(candidate)
    return kept
