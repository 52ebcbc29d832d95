"""RAPTOR's clustering on the real libraries: what it promises of any layer, and that it is what it says it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from umap import UMAP

from programs.methods.raptor.cluster import (
    _cut_in_order,
    _refined,
    best_number,
    cluster_layer,
    lowest_bic,
    mixture_members,
    nearest,
    reduce,
    soft_clusters,
)
from programs.methods.raptor.settings import RaptorSettings

SETTINGS = RaptorSettings()
FEW = SETTINGS.model_copy(update={"max_clusters": 16})


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """As `cluster_layer` has it: the threads of small products are slower than none."""
    with threadpool_limits(1):
        yield


def unit(rows) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def random_vectors(n: int, dimension: int = 24, seed: int = 0) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((n, dimension)))


def three_subjects(each: int = 12) -> np.ndarray:
    noise = np.random.default_rng(1).standard_normal((3 * each, 24)) * 0.05
    return unit(np.repeat(np.eye(3, 24), each, axis=0) + noise)


def blobs(centres: int, each: int, dimension: int = 3) -> np.ndarray:
    rng = np.random.default_rng(2)
    places = rng.standard_normal((centres, dimension)) * 40
    return np.repeat(places, each, axis=0) + rng.standard_normal((centres * each, dimension))


def tokens(n: int, each: int = 90) -> np.ndarray:
    return np.full(n, each)


def test_the_number_of_clusters_is_the_one_of_lowest_bic_over_all_numbers():
    points = blobs(4, 30)
    bics = [GaussianMixture(k, random_state=SETTINGS.seed).fit(points).bic(points) for k in range(1, 16)]
    assert best_number(points, FEW) == int(np.argmin(bics)) + 1 == 4


@pytest.mark.parametrize("n", [14, 41, 90])
def test_numbers_that_are_not_tried_could_not_have_been_the_lowest(n):
    points = reduce(random_vectors(n), 10, 10, SETTINGS)
    bics = [GaussianMixture(k, random_state=SETTINGS.seed).fit(points).bic(points) for k in range(1, min(50, n))]
    assert best_number(points, SETTINGS) == int(np.argmin(bics)) + 1
    assert all(lowest_bic(k, points) <= bic for k, bic in enumerate(bics, start=1))


def test_members_are_the_nodes_above_the_threshold_of_a_mixture_of_that_number():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.standard_normal((60, 2)), rng.standard_normal((60, 2)) + np.array([4.0, 0.0])])
    number = best_number(points, FEW)
    likely = GaussianMixture(number, random_state=SETTINGS.refit_seed).fit(points).predict_proba(points)
    expected = [np.flatnonzero(column > 0.1).tolist() for column in likely.T]
    found = [members.tolist() for members in mixture_members(points, FEW)]
    assert number == 2
    assert found == expected
    assert set(found[0]) & set(found[1])


def test_a_node_that_no_cluster_is_likely_enough_to_have_goes_to_its_likeliest():
    points = blobs(4, 30)
    hard = mixture_members(points, FEW.model_copy(update={"threshold": 0.9999999999}))
    assert sorted(node for members in hard for node in members.tolist()) == list(range(len(points)))


def test_the_layer_is_reduced_by_seeded_umap_over_the_cosine():
    vectors = random_vectors(40)
    expected = UMAP(
        n_neighbors=6, n_components=10, metric="cosine", init="pca", random_state=224, n_jobs=1
    ).fit_transform(vectors)
    np.testing.assert_array_equal(reduce(vectors, 6, 10, SETTINGS), expected)


def test_exact_neighbours_start_with_the_node_itself_and_are_in_order_of_distance():
    vectors = random_vectors(50)
    places, distances = nearest(vectors, 7)
    expected = np.argsort(1 - vectors @ vectors.T, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_allclose(distances[:, 1:], np.sort(1 - vectors @ vectors.T, axis=1)[:, 1:7], atol=1e-6)


def test_nodes_of_different_subjects_are_not_clustered_together():
    found = cluster_layer(three_subjects(), tokens(36), SETTINGS, 3500)
    assert all(len({node // 12 for node in cluster}) == 1 for cluster in found)


def test_a_small_cluster_is_left_whole_and_a_large_one_is_clustered_inside():
    two = unit(np.repeat(np.eye(2, 24), [11, 40], axis=0) + np.random.default_rng(4).standard_normal((51, 24)) * 0.03)
    settings = SETTINGS.model_copy(update={"max_clusters": 3})
    found = sorted(tuple(members.tolist()) for members in soft_clusters(two, settings))
    assert tuple(range(11)) in found
    assert len(found) == 3


def test_a_long_cluster_is_clustered_again_until_it_is_short_enough():
    vectors = three_subjects(20)
    sizes = tokens(60)
    for limit in (3500, 600, 180):
        found = cluster_layer(vectors, sizes, SETTINGS, limit)
        assert {node for cluster in found for node in cluster} == set(range(60))
        assert max(sizes[list(cluster)].sum() for cluster in found) <= limit


def test_a_cluster_that_stays_as_long_is_cut_in_the_order_of_its_nodes():
    settings = SETTINGS.model_copy(update={"max_clusters": 2})
    assert cluster_layer(random_vectors(30), tokens(30), settings, 900) == [
        tuple(range(10)),
        tuple(range(10, 20)),
        tuple(range(20, 30)),
    ]


def test_a_node_longer_than_the_limit_is_a_cluster_by_itself():
    settings = SETTINGS.model_copy(update={"max_clusters": 2})
    sizes = tokens(14)
    sizes[3] = 5000
    found = cluster_layer(random_vectors(14), sizes, settings, 900)
    assert found == [(0, 1, 2), (3,), tuple(range(4, 14))]


def test_the_same_layer_is_clustered_alike_every_time():
    vectors = random_vectors(60)
    assert cluster_layer(vectors, tokens(60), SETTINGS, 900) == cluster_layer(vectors, tokens(60), SETTINGS, 900)


def test_layers_of_queries_that_run_at_once_are_clustered_as_one_after_another():
    layers = [random_vectors(40, seed=seed) for seed in range(4)]
    alone = [cluster_layer(vectors, tokens(40), SETTINGS, 900) for vectors in layers]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda vectors: cluster_layer(vectors, tokens(40), SETTINGS, 900), layers))
    assert together == alone


@given(st.lists(st.integers(1, 50), min_size=1), st.integers(1, 60))
def test_runs_keep_every_node_in_order_and_only_a_node_alone_may_be_too_long(sizes, limit):
    counts = np.array(sizes)
    runs = list(_cut_in_order(np.arange(len(sizes)), counts, limit))
    assert np.concatenate(runs).tolist() == list(range(len(sizes)))
    assert all(len(run) == 1 or counts[run].sum() <= limit for run in runs)


@pytest.mark.parametrize(
    "vectors",
    [
        random_vectors(12),
        random_vectors(13),
        unit(np.ones((40, 24))),
        unit(np.concatenate([np.ones((11, 24)), -np.ones((1, 24))])),
        unit(np.repeat(np.eye(2, 24), 20, axis=0)),
    ],
    ids=["twelve", "thirteen", "all alike", "one opposite to the rest", "two texts repeated"],
)
def test_small_and_degenerate_layers_have_every_node_in_a_cluster(vectors):
    found = cluster_layer(vectors, tokens(len(vectors)), SETTINGS, 3500)
    assert {node for cluster in found for node in cluster} == set(range(len(vectors)))
    assert len(set(found)) == len(found)


def test_two_dimensions_do_for_a_layer_of_four():
    settings = SETTINGS.model_copy(update={"dimension": 2})
    assert {node for c in cluster_layer(random_vectors(4), tokens(4), settings, 3500) for node in c} == {0, 1, 2, 3}


def test_above_the_full_search_numbers_are_tried_on_a_grid_and_around_its_best():
    points = blobs(13, 25)
    coarse = FEW.model_copy(update={"full_search": 100})
    assert best_number(points, coarse) == best_number(points, FEW) == 13


@given(st.integers(1, 200), st.integers(1, 200))
def test_the_refined_grid_finds_the_bottom_of_a_valley_in_few_steps(bottom, most):
    tried = []

    def cost(number: int) -> float:
        tried.append(number)
        return abs(number - bottom)

    assert _refined(cost, most) == min(bottom, most)
    assert set(tried) <= set(range(1, most + 1))
    assert len(set(tried)) <= 12 + 2 * most.bit_length()
