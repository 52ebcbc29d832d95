"""The mean over tasks: every task counts the same, and each is resampled by itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics.significance import interval, macro_interval, macro_paired, paired


def tasks(seed, sizes=(40, 400, 150)):
    rng = np.random.default_rng(seed)
    return [rng.random(size) * (i + 1) for i, size in enumerate(sizes)]


def test_every_task_counts_the_same_whatever_its_size():
    values = tasks(0)
    found = macro_interval([(each, None) for each in values])
    assert found.mean == pytest.approx(np.mean([each.mean() for each in values]))
    assert (found.n, found.clusters, found.tasks) == (590, 590, 3)


def test_the_macro_interval_is_the_normal_one_of_independent_tasks():
    values = tasks(1)
    half = 1.96 * math.sqrt(sum(each.var() / len(each) for each in values)) / 3
    found = macro_interval([(each, None) for each in values])
    assert (found.low, found.high) == pytest.approx((found.mean - half, found.mean + half), abs=half / 12)


def test_tasks_of_one_size_do_not_vary_together():
    values = np.random.default_rng(2).random(300)
    one, four = interval(values), macro_interval([(values, None)] * 4)
    assert (one.high - one.low) / (four.high - four.low) == pytest.approx(2, rel=0.06)


def test_a_clustered_task_is_resampled_by_cluster():
    values = np.repeat(np.random.default_rng(3).random(30), 10)
    clusters = [f"document-{i // 10}" for i in range(300)]
    naive, clustered = macro_interval([(values, None)] * 2), macro_interval([(values, clusters)] * 2)
    assert (clustered.high - clustered.low) / (naive.high - naive.low) == pytest.approx(math.sqrt(10), rel=0.15)
    assert clustered.clusters == 60


@given(st.integers(0, 2**31))
@settings(max_examples=15, deadline=None)
def test_the_macro_mean_of_one_task_is_that_tasks(seed):
    a, b = tasks(seed, (20, 20))
    assert macro_interval([(a, None)], resamples=300) == interval(a, resamples=300)
    assert macro_paired([(a, b, None)], resamples=300) == paired(a, b, resamples=300)


def test_a_task_without_a_value_is_left_out_and_the_count_of_tasks_says_so():
    values = tasks(4)[0]
    found = macro_interval([([np.nan, np.nan], None), (values, None)])
    assert found == macro_interval([(values, None)])
    assert found.tasks == 1
    both = macro_paired([(values, values / 2, None), ([], [], None)])
    assert both == paired(values, values / 2)


def test_a_task_of_one_unit_leaves_the_bounds_unknown():
    found = macro_interval([(tasks(5)[0], None), ([0.5], None)])
    assert not math.isnan(found.mean)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_tasks_without_any_value_give_no_mean_and_no_tasks_are_an_error():
    assert math.isnan(macro_interval([([], None), ([np.nan], None)]).mean)
    assert macro_paired([([], [], None)]).p == 1.0
    with pytest.raises(ValueError, match="needs a task"):
        macro_interval([])
    with pytest.raises(ValueError, match="needs a task"):
        macro_paired([])


@given(st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_swapping_the_methods_flips_the_macro_difference(seed):
    a, b = tasks(seed, (5, 12)), tasks(seed + 1, (5, 12))
    clusters = [None, [f"c{i // 3}" for i in range(12)]]
    there = macro_paired(list(zip(a, b, clusters, strict=True)), resamples=300)
    back = macro_paired(list(zip(b, a, clusters, strict=True)), resamples=300)
    assert (back.difference, back.low, back.high) == pytest.approx((-there.difference, -there.high, -there.low))
    assert back.p == there.p


def test_a_small_task_weighs_in_the_macro_test_as_much_as_a_large_one():
    rng = np.random.default_rng(6)
    small, large = rng.normal(0.5, 0.1, 30), rng.normal(0, 1, 600)
    found = macro_paired([(small, np.zeros(30), None), (large, np.zeros(600), None)])
    assert found.difference == pytest.approx((small.mean() + large.mean()) / 2)
    assert found.p < 0.001
    assert paired(np.concatenate([small, large]), np.zeros(630)).p > 0.05


def test_macro_p_values_are_uniform_where_the_methods_are_alike():
    rng = np.random.default_rng(7)
    p_values = [
        macro_paired([(rng.random(n), rng.random(n), None) for n in (15, 60)], resamples=400).p for _ in range(300)
    ]
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
