"""Intervals and tests of difference: against scipy, against closed forms, and what must not change them."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from metrics.bootstrap import resamples_for
from metrics.significance import holm, interval, intervals, mcnemar, paired, paired_all

FEW = 400
numbers = st.floats(-1000, 1000, allow_subnormal=False).map(lambda value: round(value, 3))
samples = st.lists(numbers, min_size=2, max_size=25)
pairs = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=25)
binary_pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=25)


def near(result, **changes):
    """Expect the fields of a result to within rounding, p included, with some of them replaced."""
    return {name: pytest.approx(value, abs=1e-9, nan_ok=True) for name, value in (vars(result) | changes).items()}


def correlated(rng, clusters=60, size=10):
    """Give values of which half of the variance is common to a cluster, and the clusters' names."""
    values = np.repeat(rng.standard_normal(clusters), size) + rng.standard_normal(clusters * size)
    return values, [f"document-{i // size}" for i in range(clusters * size)]


def test_the_interval_agrees_with_scipys_percentile_bootstrap():
    values = np.random.default_rng(1).exponential(size=80)
    ours = interval(values)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=2).confidence_interval
    assert ours.mean == pytest.approx(values.mean())
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.02)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_interval_of_many_values_is_the_normal_one(level):
    values = np.random.default_rng(3).random(1000)
    half = stats.norm.ppf((1 + level) / 2) * values.std() / math.sqrt(len(values))
    found = interval(values, level=level)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=half / 12)


def test_the_clustered_interval_has_the_width_of_the_ratio_estimators_standard_error():
    rng = np.random.default_rng(4)
    sizes = rng.geometric(0.15, size=300)
    member = np.repeat(np.arange(300), sizes)
    values = 0.3 * rng.exponential(size=300)[member] + rng.exponential(size=len(member))
    clusters = [f"document-{i}" for i in member]
    found = interval(values, clusters)
    residuals = [values[member == i].sum() - sizes[i] * values.mean() for i in range(300)]
    half = 1.96 * math.sqrt(np.square(residuals).sum()) / sizes.sum()
    assert (found.n, found.clusters) == (sizes.sum(), 300)
    assert found.mean == pytest.approx(values.mean())
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.06)


def test_values_that_share_a_cluster_give_a_wider_interval_than_independent_ones():
    values, clusters = correlated(np.random.default_rng(5))
    alone, together = interval(values), interval(values, clusters)
    expected = math.sqrt(1 + 9 * 0.5)
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(expected, rel=0.2)


def test_about_95_of_100_clustered_intervals_hold_the_true_mean_and_naive_ones_do_not():
    rng = np.random.default_rng(6)
    held = {"clustered": 0, "naive": 0}
    for _ in range(300):
        values, clusters = correlated(rng, clusters=40, size=5)
        for kind, names in (("clustered", clusters), ("naive", None)):
            found = interval(values, names, resamples=FEW)
            held[kind] += found.low <= 0 <= found.high
    assert 0.90 <= held["clustered"] / 300 <= 0.98
    assert held["naive"] / 300 < 0.85


def test_paired_p_values_are_uniform_where_the_methods_are_alike_and_small_where_they_are_not():
    rng = np.random.default_rng(7)
    null, shifted = [], []
    for _ in range(300):
        a, clusters = correlated(rng, clusters=25, size=3)
        b, _ = correlated(rng, clusters=25, size=3)
        null.append(paired(a, b, clusters, resamples=FEW).p)
        shifted.append(paired(a + 1.5, b, clusters, resamples=FEW).p)
    assert stats.kstest(null, "uniform").pvalue > 0.01
    assert 0.02 <= np.mean(np.array(null) <= 0.05) <= 0.09
    assert np.mean(np.array(shifted) <= 0.05) > 0.9


def test_flipping_queries_where_they_share_clusters_would_find_differences_that_are_not_there():
    rng = np.random.default_rng(8)
    naive = []
    for _ in range(200):
        a, _ = correlated(rng, clusters=15, size=8)
        naive.append(paired(a, np.zeros(len(a)), resamples=FEW).p)
    assert np.mean(np.array(naive) <= 0.05) > 0.15


def test_the_paired_p_value_is_that_of_an_exact_permutation_test():
    rng = np.random.default_rng(9)
    a, b = rng.random(12), rng.random(12) + 0.15

    def mean_difference(x, y):
        return np.mean(x - y)

    exact = stats.permutation_test((a, b), mean_difference, permutation_type="samples", n_resamples=np.inf).pvalue
    assert paired(a, b).p == pytest.approx(exact, abs=0.015)


def test_sums_that_tie_with_the_observed_one_count_whatever_rounding_made_of_them():
    a = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    exact = stats.binomtest(6, 6).pvalue
    assert paired(a, np.zeros(6)).p == pytest.approx(exact, abs=0.008)
    assert paired([0.1, 0.2, 0.3], [0.2, 0.3, 0.2]).p == pytest.approx(1.0)


def test_differences_that_cancel_inside_every_cluster_are_no_evidence():
    a, clusters = np.tile([0.1, 0.2, -0.3], 20), [f"c{i // 3}" for i in range(60)]
    assert sum(a[:3]) != 0, "the case is about what rounding leaves"
    assert paired(a, np.zeros(60), clusters).p == pytest.approx(1.0)


def test_a_p_value_is_never_zero():
    assert paired(np.ones(60), np.zeros(60), resamples=999).p == pytest.approx(1 / 1000)


@pytest.mark.parametrize(("only_a", "only_b", "both"), [(0, 0, 4), (1, 0, 2), (9, 2, 5), (3, 14, 0), (40, 40, 1)])
def test_mcnemar_is_scipys_exact_binomial_test_of_the_disagreements(only_a, only_b, both):
    a = [1] * only_a + [0] * only_b + [1] * both + [0] * both
    b = [0] * only_a + [1] * only_b + [1] * both + [0] * both
    found = mcnemar(a, b)
    expected = stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert (found.only_a, found.only_b, found.n, found.test) == (only_a, only_b, len(a), "exact")
    assert found.p == pytest.approx(expected)


def test_mcnemar_with_clusters_of_one_stays_exact():
    a, b = [1, 1, 1, 0, 1], [0, 0, 1, 1, 0]
    assert mcnemar(a, b, ["v", "w", "x", "y", "z"]) == mcnemar(a, b)


def test_mcnemar_flips_whole_clusters_where_queries_share_one_and_says_so():
    a, b = [1] * 12 + [0] * 4, [0] * 12 + [1] * 4
    clusters = ["one"] * 12 + ["two"] * 4
    found = mcnemar(a, b, clusters)
    assert (found.only_a, found.only_b, found.test) == (12, 4, "cluster sign-flip")
    assert found.p == pytest.approx(1.0)
    assert found.p == paired(a, b, clusters).p
    assert mcnemar(a, b).p < 0.08


@given(st.integers(0, 2**31), st.floats(0.1, 0.9))
@settings(max_examples=20, deadline=None)
def test_the_sign_flip_of_single_queries_is_mcnemars_test(seed, share):
    a, b = (np.random.default_rng(seed + i).random(40) < share for i in (0, 1))
    assert paired(a, b, resamples=4000).p == pytest.approx(mcnemar(a, b).p, abs=0.05)


def test_mcnemar_leaves_out_pairs_with_an_undefined_value_and_refuses_fractions():
    found = mcnemar([1, 1, np.nan, 0], [0, np.nan, 1, 1])
    assert (found.only_a, found.only_b, found.n) == (1, 1, 2)
    with pytest.raises(ValueError, match="0 and 1; b has others"):
        mcnemar([1, 0], [0.5, 0])


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.2], [0.2]),
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.02, 0.02, 0.02], [0.06, 0.06, 0.06]),
        ([0.5, 0.4, 1.0], [1.0, 1.0, 1.0]),
        ([0.0, 0.9], [0.0, 0.9]),
    ],
)
def test_holms_adjustment_is_the_one_worked_by_hand(p_values, adjusted):
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_holm_never_lowers_a_p_value_keeps_their_order_and_stays_under_bonferroni(p_values, random):
    adjusted = holm(p_values)
    for one, own in zip(p_values, adjusted, strict=True):
        assert one <= own <= min(1.0, len(p_values) * one) + 1e-12
        assert all(own <= other for p, other in zip(p_values, adjusted, strict=True) if p > one)
    shuffled = random.sample(range(len(p_values)), len(p_values))
    assert holm([p_values[i] for i in shuffled]) == [adjusted[i] for i in shuffled]


@pytest.mark.parametrize("p_values", [[-0.1], [1.1], [0.5, math.nan]])
def test_holm_refuses_what_is_no_probability(p_values):
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm(p_values)


@given(samples, st.data())
@settings(deadline=None)
def test_the_order_of_queries_does_not_matter_where_clusters_name_them(values, data):
    names = st.sampled_from("abcdef")
    clusters = data.draw(st.lists(names, min_size=len(values), max_size=len(values)))
    order = data.draw(st.permutations(range(len(values))))
    others = data.draw(st.lists(numbers, min_size=len(values), max_size=len(values)))
    moved, renamed, partners = ([column[i] for i in order] for column in (values, clusters, others))
    assert vars(interval(moved, renamed, resamples=FEW)) == near(interval(values, clusters, resamples=FEW))
    assert vars(paired(moved, partners, renamed, resamples=FEW)) == near(
        paired(values, others, clusters, resamples=FEW)
    )


@given(samples, numbers)
@settings(deadline=None)
def test_adding_a_constant_shifts_the_interval_and_leaves_the_difference_alone(values, constant):
    found = interval(values, resamples=FEW)
    shifted = interval(np.array(values) + constant, resamples=FEW)
    expected = {"mean": found.mean + constant, "low": found.low + constant, "high": found.high + constant}
    assert vars(shifted) == near(found, **expected)
    other = np.array(values[::-1])
    moved = paired(np.array(values) + constant, other + constant, resamples=FEW)
    assert vars(moved) == near(paired(values, other, resamples=FEW))


@given(pairs, st.booleans())
@settings(deadline=None)
def test_swapping_the_methods_flips_the_difference_and_its_bounds_and_keeps_p(rows, clustered):
    a, b = np.array(rows).T
    clusters = [f"c{i // 3}" for i in range(len(rows))] if clustered else None
    there, back = paired(a, b, clusters, resamples=FEW), paired(b, a, clusters, resamples=FEW)
    flipped = {"difference": -there.difference, "low": -there.high, "high": -there.low}
    assert vars(back) == near(there, **flipped)


@given(binary_pairs)
@settings(deadline=None)
def test_swapping_the_methods_swaps_mcnemars_counts(rows):
    a, b = [x for x, _ in rows], [y for _, y in rows]
    there, back = mcnemar(a, b), mcnemar(b, a)
    assert (back.only_a, back.only_b, back.p) == (there.only_b, there.only_a, pytest.approx(there.p))


@given(samples, st.floats(0.1, 0.5), st.floats(0.5, 0.9))
@settings(deadline=None)
def test_a_higher_level_never_gives_a_narrower_interval(values, lower, higher):
    inner, outer = interval(values, level=lower, resamples=FEW), interval(values, level=higher, resamples=FEW)
    assert outer.low <= inner.low <= inner.high <= outer.high
    assert min(values) - 1e-9 <= outer.low
    assert outer.high <= max(values) + 1e-9


@given(samples, st.data())
@settings(deadline=None)
def test_an_undefined_value_counts_as_if_its_query_were_not_there(values, data):
    holes = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    assume(not all(holes))
    values = np.array(values)
    clusters = [f"c{i // 2}" for i in range(len(values))]
    with_holes = np.where(holes, np.nan, values)
    kept = ~np.array(holes)
    left = [name for name, keep in zip(clusters, kept, strict=True) if keep]
    assert vars(interval(with_holes, clusters, resamples=FEW)) == near(interval(values[kept], left, resamples=FEW))
    assert interval(with_holes, resamples=FEW).n == kept.sum()
    partner = values[::-1].copy()
    assert vars(paired(with_holes, partner, resamples=FEW)) == near(paired(values[kept], partner[kept], resamples=FEW))
    assert paired(partner, with_holes, resamples=FEW).n == kept.sum()


def test_many_metrics_at_once_get_the_intervals_and_tests_they_would_get_alone():
    rng = np.random.default_rng(10)
    a = {name: rng.random(90) for name in ("em", "f1", "recall", "hits")}
    a["recall"][:30] = np.nan
    a["hits"][:] = np.nan
    b = {name: rng.random(90) for name in a}
    clusters = [f"document-{i % 20}" for i in range(90)]
    together, tests = intervals(a, clusters), paired_all(a, b, clusters)
    assert list(together) == list(tests) == list(a)
    for name in a:
        assert vars(together[name]) == near(interval(a[name], clusters))
        assert vars(tests[name]) == near(paired(a[name], b[name], clusters))


def test_without_a_value_there_is_no_mean_and_nothing_speaks_against_equality():
    for values in ([], [np.nan, np.nan]):
        found = interval(values)
        assert math.isnan(found.mean)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert (found.n, found.clusters, found.tasks) == (0, 0, 0)
        assert (paired(values, values).p, paired(values, values).n) == (1.0, 0)
        assert (mcnemar(values, values).p, mcnemar(values, values).n) == (1.0, 0)


@pytest.mark.parametrize(("values", "clusters"), [([0.25], None), ([0.0, 0.5, np.nan], ["one", "one", "two"])])
def test_one_unit_has_a_mean_and_no_bounds(values, clusters):
    found, difference = interval(values, clusters), paired(values, np.zeros(len(values)), clusters)
    assert (found.mean, found.clusters) == (0.25, 1)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (difference.difference, difference.p) == (0.25, pytest.approx(1.0))
    assert math.isnan(difference.low)


@given(numbers, st.integers(2, 30), st.booleans())
@settings(deadline=None)
def test_equal_values_have_an_interval_of_no_width(value, n, clustered):
    found = interval([value] * n, [f"c{i // 2}" for i in range(n + 1)][1:] if clustered else None, resamples=FEW)
    assert found.low == found.mean == found.high == value


def test_the_seed_alone_decides_the_draws():
    values = np.random.default_rng(11).random(30)
    assert interval(values) == interval(values, seed=0)
    assert interval(values, seed=1) != interval(values)
    assert interval(values, seed=1).mean == interval(values).mean
    other = values[::-1].copy()
    assert paired(values, other, seed=1) == paired(values, other, seed=1)


@pytest.mark.parametrize(
    ("units", "resamples"), [(0, 10_000), (10_000, 10_000), (20_000, 5_000), (50_000, 2_000), (1_000_000, 2_000)]
)
def test_resamples_fall_with_the_number_of_units(units, resamples):
    assert resamples_for(units) == resamples


def test_a_result_says_how_many_resamples_it_rests_on():
    values = np.arange(12_000) % 7
    assert interval(values, [f"c{i % 50}" for i in range(12_000)]).resamples == 10_000
    assert interval(values, resamples=25).resamples == 25
    assert paired(values[:40], values[1:41]).resamples == 10_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: interval([1.0, 2.0], ["a"]), r"lengths are \[1, 2\]"),
        (lambda: intervals({"em": [1.0], "f1": [1.0, 0.5]}), r"lengths are \[1, 2\]"),
        (lambda: paired([1.0], [1.0, 2.0]), "not 1 and 2"),
        (lambda: paired_all({"em": [1.0]}, {"f1": [1.0]}), r"\['em', 'f1'\]"),
        (lambda: interval([[1.0, 2.0]]), "one finite number"),
        (lambda: interval([1.0, math.inf]), "one finite number"),
        (lambda: interval([1.0, 2.0], level=95), "not at 95"),
        (lambda: interval([1.0, 2.0], resamples=0), "at least one resample"),
        (lambda: mcnemar([1, 0], [0, 1], ["a", "a"], resamples=0), "at least one resample"),
    ],
)
def test_what_can_not_be_meant_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
