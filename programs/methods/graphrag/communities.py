"""Communities: a hierarchy of Leiden partitions, each community above a size divided again.

igraph's Leiden has neither levels nor a cap, so both are made here. The partitions are not bit-equal to those of
graspologic, which the original uses: the algorithm and its parameters are the same, the order of moves is not.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import igraph

from programs.methods.graphrag.knowledge import Community
from programs.methods.graphrag.settings import GraphragSettings

Edge = tuple[int, int, float]
_generator = threading.Lock()
"""igraph has one random number generator for the whole process."""


def find_communities(nodes: int, edges: Sequence[Edge], settings: GraphragSettings) -> tuple[Community, ...]:
    """Give communities level by level, parents before their children. A node without edges is in none.

    Level 0 divides the graph. A community above the size is divided on the next level, unless Leiden leaves it whole.
    """
    communities: list[Community] = []
    graph = connected_part(nodes, edges, settings.largest_component)
    queue: deque[tuple[int | None, int, Any]] = deque([(None, 0, graph)] if graph.vcount() else [])
    with seeded(settings.seed):
        while queue:
            parent, level, whole = queue.popleft()
            parts = divide(whole, settings)
            if parent is not None and len(parts) == 1:
                continue
            for part in parts:
                if part.vcount() > settings.cluster_size:
                    queue.append((len(communities), level + 1, part))
                communities.append(Community(level, parent, tuple(part.vs["node"])))
    return tuple(communities)


def connected_part(nodes: int, edges: Sequence[Edge], largest: bool) -> Any:
    """Make the weighted graph of the nodes that have edges, or of its largest component, the first of several."""
    graph = igraph.Graph(
        n=nodes,
        edges=[(source, target) for source, target, _ in edges],
        vertex_attrs={"node": list(range(nodes))},
        edge_attrs={"weight": [weight for _, _, weight in edges]},
    )
    if not edges:
        return graph.induced_subgraph([])
    if largest:
        return graph.induced_subgraph(max(graph.connected_components(), key=lambda part: (len(part), -min(part))))
    return graph.induced_subgraph([node for node, degree in enumerate(graph.degree()) if degree])


def divide(graph: Any, settings: GraphragSettings) -> list[Any]:
    """Run Leiden once and give the parts in the order of their first nodes."""
    parts = graph.community_leiden(
        objective_function="modularity",
        weights="weight",
        resolution=settings.resolution,
        beta=settings.randomness,
        n_iterations=settings.iterations,
    )
    return [graph.induced_subgraph(part) for part in sorted((part for part in parts if part), key=min)]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Have igraph draw from a generator of this seed, and afterwards from Python's own again, its initial one.

    igraph does not say which generator it has, so there is no other to go back to.
    """
    with _generator:
        igraph.set_random_number_generator(random.Random(seed))
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)
