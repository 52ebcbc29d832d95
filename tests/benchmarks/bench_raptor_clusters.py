"""How long RAPTOR's clustering of a layer takes: `python -m tests.benchmarks.bench_raptor_clusters [n …]`.

Two lines a case: UMAP and the mixtures over all nodes at once; and the whole layer, with the clusters inside clusters
and what is clustered again because it is too long to summarise. The first run in a process, in which numba compiles
UMAP, is a line of its own. Processor time is that of one thread: the clock says more where others use the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from math import isqrt

import numpy as np

from programs.methods.raptor.cluster import cluster_layer, mixture_members, quiet_on_one_thread, reduce
from programs.methods.raptor.settings import RaptorSettings
from programs.models.encoders.encoder import Vectors
from tests.benchmarks.bench_grouping import clustered, dense

SETTINGS = RaptorSettings()
TOKENS = 90
"""Of a leaf: sentences seldom fill all 100."""


def over_all_nodes(vectors: Vectors) -> list[int]:
    with quiet_on_one_thread():
        points = reduce(vectors, isqrt(len(vectors) - 1), SETTINGS.dimension, SETTINGS)
        return [len(members) for members in mixture_members(points, SETTINGS)]


def whole_layer(vectors: Vectors) -> list[int]:
    tokens = np.full(len(vectors), TOKENS)
    return [len(cluster) for cluster in cluster_layer(vectors, tokens, SETTINGS, SETTINGS.cluster_tokens)]


def measure(case: str, work: Callable[[Vectors], list[int]], vectors: Vectors) -> None:
    started, busy = time.perf_counter(), time.process_time()
    sizes = work(vectors)
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    shape = f"{len(sizes)} clusters of {np.median(sizes):.0f} (largest {max(sizes)})"
    print(f"{case:<24} n={len(vectors):<6} {seconds:6.1f} s (processor {busy:6.1f} s)  {shape}", flush=True)


def main(sizes: list[int]) -> None:
    measure("first run", whole_layer, dense(20)[0])
    for n in sizes:
        for make in (clustered, dense):
            vectors, _ = make(n)
            measure(f"{make.__name__}, over all", over_all_nodes, vectors)
            measure(f"{make.__name__}, whole layer", whole_layer, vectors)


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [200, 10_000])
