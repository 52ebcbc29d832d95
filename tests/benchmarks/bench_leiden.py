"""How long the hierarchy of communities takes: `python tests/benchmarks/bench_leiden.py [nodes …]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from programs.methods.graphrag.communities import Edge, find_communities
from programs.methods.graphrag.settings import GraphragSettings

EDGES_A_NODE = 4
REPEATED = 1.25
"""Draws of a clustered graph for each edge: near pairs are drawn again and again."""
BAR = 5.0
"""Seconds for 10,000 nodes and about 40,000 edges."""


def clustered(nodes: int, seed: int = 0) -> list[Edge]:
    """Give a graph like that of a corpus: most relationships within groups of about twelve, some hubs, few bridges."""
    rng = np.random.default_rng(seed)
    group = rng.integers(max(1, nodes // 12), size=nodes)
    order = np.argsort(group, kind="stable")
    place = np.empty(nodes, dtype=int)
    place[order] = np.arange(nodes)
    source = rng.integers(nodes, size=int(REPEATED * EDGES_A_NODE * nodes))
    near = order[np.clip(place[source] + rng.integers(-8, 9, size=len(source)), 0, nodes - 1)]
    hub = (nodes * rng.random(len(source)) ** 4).astype(int)
    target = np.where(rng.random(len(source)) < 0.85, near, hub)
    return _weighted(source, target, rng)


def uniform(nodes: int, seed: int = 0) -> list[Edge]:
    """Give a graph without structure, which divides the worst."""
    rng = np.random.default_rng(seed)
    return _weighted(*rng.integers(nodes, size=(2, EDGES_A_NODE * nodes)), rng)


def _weighted(source: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> list[Edge]:
    pairs = sorted({(int(min(a, b)), int(max(a, b))) for a, b in zip(source, target, strict=True) if a != b})
    return [(a, b, float(weight)) for (a, b), weight in zip(pairs, rng.integers(1, 11, size=len(pairs)), strict=True)]


def main(sizes: list[int]) -> None:
    """Print one line a case: nodes, edges, seconds on the clock and of processor time, communities and levels."""
    for nodes in sizes:
        for make in (clustered, uniform):
            edges = make(nodes)
            started, busy = time.perf_counter(), time.process_time()
            communities = find_communities(nodes, edges, GraphragSettings())
            seconds, busy = time.perf_counter() - started, time.process_time() - busy
            levels = max(community.level for community in communities) + 1
            sizes_of = f"{len(communities)} communities on {levels} levels"
            bar = f"bar {BAR:.0f} s" if nodes == 10_000 else ""
            print(
                f"{make.__name__:<10} n={nodes:<6} m={len(edges):<6} {seconds:6.2f} s (processor {busy:5.2f} s)"
                f"  {sizes_of}  {bar}"
            )


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [1_000, 10_000])
