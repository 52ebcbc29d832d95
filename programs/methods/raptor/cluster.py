"""RAPTOR's clusters: UMAP, then a Gaussian mixture whose number of components BIC chooses; and both again inside each.

UMAP with a seed runs on one thread. It starts from principal components, because its spectral start is not the same
every time where the nodes fall apart into groups. Its first run in a process takes ten seconds more, since numba
compiles it then; importing this module takes seconds too. The libraries hold global state, so one layer is clustered
at a time.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import isqrt

import numpy as np
import numpy.typing as npt
from sklearn.mixture import GaussianMixture  # type: ignore[import-untyped]
from sklearn.neighbors import NearestNeighbors  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from umap import UMAP  # type: ignore[import-untyped]

from programs.methods.raptor.settings import RaptorSettings
from programs.models.encoders.encoder import Vectors

Cluster = tuple[int, ...]
Indices = npt.NDArray[np.int64]
Points = npt.NDArray[np.float64]

APPROXIMATE = 4096
"""Nodes from which UMAP looks for neighbours by approximation; they are found exactly instead, and faster."""
NARROWEST = 1e-6
"""Variance that every component has at least in every direction: the library's own default."""
GRID = 12
"""Numbers of clusters that are tried first where not all are."""
STUCK = 0.9
"""Share of the nodes above which a cluster counts as not having become shorter."""

_one_at_a_time = threading.Lock()


def cluster_layer(vectors: Vectors, tokens: Indices, settings: RaptorSettings, limit: int) -> list[Cluster]:
    """Cluster a layer's nodes: each is in at least one cluster, and only a single node may be longer than `limit`."""
    with _one_at_a_time, quiet_on_one_thread():
        found = [
            tuple(members.tolist())
            for members in _short_clusters(np.arange(len(vectors)), vectors, tokens, settings, limit)
        ]
    return list(dict.fromkeys(found))


def _short_clusters(
    nodes: Indices, vectors: Vectors, tokens: Indices, settings: RaptorSettings, limit: int
) -> Iterator[Indices]:
    for members in soft_clusters(vectors[nodes], settings):
        cluster = nodes[members]
        if len(cluster) == 1 or tokens[cluster].sum() <= limit:
            yield cluster
        elif len(cluster) <= settings.dimension + 1 or len(cluster) > STUCK * len(nodes):
            yield from _cut_in_order(cluster, tokens, limit)
        else:
            yield from _short_clusters(cluster, vectors, tokens, settings, limit)


def _cut_in_order(cluster: Indices, tokens: Indices, limit: int) -> Iterator[Indices]:
    """Cut a cluster into runs of nodes that fit."""
    held: list[int] = []
    for node in cluster.tolist():
        if held and tokens[held].sum() + tokens[node] > limit:
            yield np.array(held)
            held = []
        held.append(node)
    yield np.array(held)


def soft_clusters(vectors: Vectors, settings: RaptorSettings) -> Iterator[Indices]:
    """Cluster over all nodes, then inside each cluster that is large enough."""
    most = settings.dimension
    if len(vectors) <= most + 1:
        yield np.arange(len(vectors))
        return
    spread = reduce(vectors, isqrt(len(vectors) - 1), min(most, len(vectors) - 2), settings)
    for members in mixture_members(spread, settings):
        if len(members) <= most + 1:
            yield members
            continue
        spread = reduce(vectors[members], settings.local_neighbours, most, settings)
        for inner in mixture_members(spread, settings):
            yield members[inner]


def reduce(vectors: Vectors, neighbours: int, dimension: int, settings: RaptorSettings) -> Points:
    """Reduce unit vectors by UMAP."""
    neighbours = max(2, min(neighbours, len(vectors) - 1))
    exact = {"precomputed_knn": nearest(vectors, neighbours)} if len(vectors) >= APPROXIMATE else {}
    umap = UMAP(
        n_neighbors=neighbours,
        n_components=dimension,
        metric="cosine",
        init="pca" if np.ptp(vectors, axis=0).any() else "random",  # nodes that are all alike have no axes
        n_epochs=settings.large_epochs if len(vectors) > settings.full_search else None,
        random_state=settings.seed,
        n_jobs=1,
        disconnection_distance=np.inf,  # else a vector opposite to its neighbours has no place
        **exact,
    )
    points: Points = np.asarray(umap.fit_transform(vectors), dtype=np.float64)
    return points


def nearest(vectors: Vectors, neighbours: int) -> tuple[Indices, Vectors]:
    """Give each node's nearest nodes, itself first, and their distances, as UMAP wants them."""
    search = NearestNeighbors(n_neighbors=neighbours, metric="cosine", algorithm="brute").fit(vectors)
    distances, places = search.kneighbors(vectors)
    return places, distances


def mixture_members(points: Points, settings: RaptorSettings) -> list[Indices]:
    """Give each component's nodes: those that are likely enough to be its own, and those that are likeliest so."""
    number = best_number(points, settings)
    mixture = GaussianMixture(number, reg_covar=NARROWEST, random_state=settings.refit_seed).fit(points)
    likely = mixture.predict_proba(points)
    belongs = likely > settings.threshold
    belongs[np.arange(len(points)), likely.argmax(axis=1)] = True
    return [members for column in belongs.T if len(members := np.flatnonzero(column))]


def best_number(points: Points, settings: RaptorSettings) -> int:
    """Choose the number of components with the lowest BIC, of equal ones the smallest."""

    @cache
    def bic(number: int) -> float:
        mixture = GaussianMixture(number, reg_covar=NARROWEST, random_state=settings.seed).fit(points)
        return float(mixture.bic(points))

    most = max(1, min(settings.max_clusters, len(points)) - 1)
    if len(points) > settings.full_search:
        return _refined(bic, most)
    best = 1
    for number in range(2, most + 1):
        if lowest_bic(number, points) > bic(best):
            break
        if bic(number) < bic(best):
            best = number
    return best


def lowest_bic(number: int, points: Points) -> float:
    """Bound the BIC of so many components, and so of more, from below: no density is higher than the narrowest's."""
    n, d = points.shape
    parameters = number * (1 + d + d * (d + 1) / 2) - 1
    return float(parameters * np.log(n) + n * d * np.log(2 * np.pi * NARROWEST))


def _refined(cost: Callable[[int], float], most: int) -> int:
    """Look for the least cost on a geometric grid of 1…`most`, then halve the gaps on both sides of the best of it."""
    grid: list[int] = np.unique(np.geomspace(1, most, GRID).round().astype(int)).tolist()
    best = min(grid, key=cost)
    low = max((number for number in grid if number < best), default=best)
    high = min((number for number in grid if number > best), default=best)
    while best - low > 1 or high - best > 1:
        left = best - low > high - best
        middle = (low + best) // 2 if left else (best + high + 1) // 2
        if cost(middle) < cost(best):
            low, best, high = (low, middle, best) if left else (best, middle, high)
        else:
            low, high = (middle, high) if left else (low, middle)
    return best


@contextmanager
def quiet_on_one_thread() -> Iterator[None]:
    """Leave out warnings of fits that stop early, and matrix threads that cost more than such small products."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
