"""How long HippoRAG 2's own work takes: the walk of one question, and finding the synonyms of all phrases.

`python -m tests.benchmarks.bench_ppr [phrases …]`
"""

from __future__ import annotations

import resource
import statistics
import sys
import time

import numpy as np

from programs.methods.hipporag2.phrase_graph import PhraseGraph, weighted_graph
from programs.methods.hipporag2.rank import passage_scores
from programs.methods.hipporag2.synonymy import find_synonyms

NODES, EDGES, PHRASES = 10_000, 60_000, 7_000
DIMENSION = 384
WALK_BAR = 5.0


def random_graph(seed: int = 0) -> PhraseGraph:
    """Give phrases and passages whose degrees are as uneven as those of names in a corpus."""
    rng = np.random.default_rng(seed)
    ends = (NODES * rng.random((EDGES, 2)) ** 3).astype(np.int64)
    ends = rng.permutation(NODES)[ends[ends[:, 0] != ends[:, 1]]]
    return PhraseGraph(weighted_graph(ends, rng.random(len(ends)) + 0.5, NODES), PHRASES, np.ones(PHRASES, np.int64))


def walks(count: int = 20, seed: int = 1) -> None:
    """Print the seconds of a walk from five phrases and every passage."""
    graph, rng, taken = random_graph(), np.random.default_rng(seed), []
    for _ in range(count):
        reset = np.zeros(NODES)
        reset[rng.integers(PHRASES, size=5)] = rng.random(5)
        reset[PHRASES:] = 0.05 * rng.random(NODES - PHRASES)
        started = time.perf_counter()
        passage_scores(graph, reset, 0.5)
        taken.append(time.perf_counter() - started)
    shape = f"{NODES} nodes, {graph.graph.ecount()} edges"
    print(
        f"a walk over {shape}: median {statistics.median(taken):.3f} s, slowest {max(taken):.3f} s (bar {WALK_BAR} s)"
    )


def cloud(n: int, share: float, seed: int = 2) -> tuple[np.ndarray, float]:
    """Give one broad cloud, as a small encoder makes of names, and the threshold that this share of pairs passes."""
    rng = np.random.default_rng(seed)
    spread = rng.standard_normal((n, 24), dtype=np.float32) @ rng.standard_normal((24, DIMENSION), dtype=np.float32)
    vectors = rng.standard_normal(DIMENSION).astype(np.float32) / DIMENSION**0.5
    vectors = vectors + 0.65 * spread / np.linalg.norm(spread, axis=1, keepdims=True)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    sample = vectors[:1500]
    return vectors, float(np.quantile((sample @ sample.T)[np.triu_indices(len(sample), 1)], 1 - share))


def synonyms(n: int, share: float) -> None:
    """Print the seconds of finding every phrase's synonyms, where this share of all pairs passes the threshold."""
    vectors, threshold = cloud(n, share)
    names = [f"name {i}" for i in range(n)]
    started, busy = time.perf_counter(), time.process_time()
    found = find_synonyms(names, vectors, threshold, neighbours=100, characters=3)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"synonyms of {n} phrases, {share:.1%} of pairs alike: {seconds:.1f} s (processor {busy:.1f} s), "
        f"peak {peak:.0f} MB, {len(found.pairs)} pairs"
    )


if __name__ == "__main__":
    walks()
    for size in [int(argument) for argument in sys.argv[1:]] or [20_000]:
        for alike in (0.001, 0.02):
            synonyms(size, alike)
