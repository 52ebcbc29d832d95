"""Grouping keeps its caps, loses nobody, and gives the same answer twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from programs.progress import listening
from programs.tam import group
from programs.tam.group import cosine_groups

VECTORS = st.tuples(st.integers(0, 40), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.float32, shape, elements=st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]))
)


@settings(deadline=None)
@given(vectors=VECTORS, threshold=st.floats(-1, 1), members=st.integers(2, 8), parents=st.integers(1, 3))
def test_every_item_is_in_one_to_parents_groups_within_the_cap(vectors, threshold, members, parents):
    groups = cosine_groups(vectors, threshold, members, parents)
    counts = [sum(item in g for g in groups) for item in range(len(vectors))]
    assert all(1 <= count <= parents for count in counts)
    assert all(1 <= len(g) <= members and list(g) == sorted(set(g)) for g in groups)
    assert not any(a is not b and set(a) <= set(b) for a in groups for b in groups)
    assert [g[0] for g in groups] == sorted(g[0] for g in groups)
    assert cosine_groups(vectors.copy(), threshold, members, parents) == groups


@settings(deadline=None)
@given(vectors=VECTORS, members=st.integers(2, 8))
def test_scaling_the_vectors_changes_nothing(vectors, members):
    assert cosine_groups(vectors * np.float32(4.0), 0.7, members) == cosine_groups(vectors, 0.7, members)


def blobs(sizes, spread=0.05, dimension=16, seed=3):
    rng = np.random.default_rng(seed)
    centres = np.eye(len(sizes), dimension, dtype=np.float32)
    rows = [centre + spread * rng.standard_normal((n, dimension)) for centre, n in zip(centres, sizes, strict=True)]
    return np.concatenate(rows).astype(np.float32)


def test_separate_clusters_become_separate_groups():
    assert cosine_groups(blobs([3, 4, 2]), 0.8, 8) == [(0, 1, 2), (3, 4, 5, 6), (7, 8)]


def test_dissimilar_items_stay_alone():
    assert cosine_groups(np.eye(5, dtype=np.float32), 0.5, 8) == [(i,) for i in range(5)]


def test_the_most_similar_pair_is_merged_first_when_the_cap_allows_one():
    angles = np.array([0.0, 0.3, 0.4])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert cosine_groups(vectors, 0.5, members=2, parents=1) == [(0,), (1, 2)]


def test_an_item_between_two_groups_joins_both():
    angles = np.radians([0, 2, 30, 58, 60])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    groups = cosine_groups(vectors, float(np.cos(np.radians(35))), members=3, parents=2)
    assert groups == [(0, 1, 2), (2, 3, 4)]
    assert cosine_groups(vectors, float(np.cos(np.radians(35))), members=3, parents=1) != groups


def test_equal_items_are_grouped_by_index():
    assert cosine_groups(np.ones((5, 3), np.float32), 0.9, members=2, parents=1) == [(0, 1), (2, 3), (4,)]


@pytest.mark.parametrize("count", [200, 700])
def test_many_identical_items_fill_their_groups(count):
    groups = cosine_groups(np.ones((count, 4), np.float32), 0.9, members=8)
    assert len(groups) <= 1.1 * count / 8


def test_keeping_fewer_neighbours_than_there_are_pairs_still_fills_groups(monkeypatch):
    vectors = blobs([60, 60, 60], spread=0.02)
    everything = cosine_groups(vectors, 0.8, 6, parents=1)
    monkeypatch.setattr(group, "NEIGHBOURS", 1)
    monkeypatch.setattr(group, "BLOCK", 7)
    few = cosine_groups(vectors, 0.8, 6, parents=1)
    assert len(few) <= 1.35 * len(everything)
    assert all(len({item // 60 for item in g}) == 1 for g in few)


def test_of_very_many_items_fewer_are_compared_at_once_and_the_groups_are_the_same(monkeypatch):
    vectors, seen, steps = blobs([30, 30, 30, 30]), [], []
    whole = cosine_groups(vectors, 0.5, 8)
    products = group._products
    monkeypatch.setattr(group, "_products", lambda rows, columns: seen.append(len(rows)) or products(rows, columns))
    monkeypatch.setattr(group, "BLOCK", 40)
    monkeypatch.setattr(group, "CELLS", 7 * len(vectors))
    with listening(lambda *step: steps.append(step)):
        assert cosine_groups(vectors, 0.5, 8) == whole
    assert max(seen[:3]) == 7
    assert steps[0] == (group.STEP, 0, len(vectors))
    assert steps[-1][1] == steps[-1][2]
