"""How sure a mean is, and whether two methods differ: intervals, paired tests and their correction for many tests.

Intervals are percentile bootstrap intervals. Where queries share a cluster (a document, a collection) whole clusters
are resampled, because answers about one document stand and fall together. A percentile interval is too narrow where
units are few: under about ten clusters, take it as the least doubt there is.

- NaN is a value that is not defined. It is left out, in a pair with its partner, and `n` counts what is left.
- No value: the mean and both bounds are NaN, and p is 1.
- One unit (a query, or all queries in one cluster): the bounds are NaN, for its spread is not known; p is 1.
- Equal values: both bounds are the mean. What never varied in the data can't vary in a resample of it.

`seed` fixes every draw. Without `resamples` their number follows the number of units (`bootstrap.resamples_for`), and
each result says how many there were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest  # type: ignore[import-untyped]

from metrics.bootstrap import Array, Clusters, Units, resampled_means, resamples_for, sign_flip_p, units_of, vector

_BOOTSTRAP, _FLIPS = 0, 1


class Draws(TypedDict, total=False):
    """How resamples are drawn. By default the level is 0.95, the seed 0, and the number of units says how many."""

    level: float
    resamples: int | None
    seed: int


@dataclass(frozen=True)
class Interval:
    """A mean with its bounds, and what it rests on."""

    mean: float
    low: float
    high: float
    n: int
    clusters: int
    tasks: int
    resamples: int


@dataclass(frozen=True)
class Paired:
    """The mean of a less b over the same queries, with its bounds and a two-sided p-value."""

    difference: float
    low: float
    high: float
    p: float
    n: int
    clusters: int
    tasks: int
    resamples: int


@dataclass(frozen=True)
class McNemar:
    """Queries that only one of two methods got right, and how likely so uneven a split is by chance."""

    only_a: int
    only_b: int
    p: float
    n: int
    test: Literal["exact", "cluster sign-flip"]


def interval(
    values: npt.ArrayLike,
    clusters: Clusters = None,
    **draws: Unpack[Draws],
) -> Interval:
    """Give the mean over queries with its bootstrap interval."""
    return macro_interval([(values, clusters)], **draws)


def intervals(
    columns: Mapping[str, npt.ArrayLike],
    clusters: Clusters = None,
    **draws: Unpack[Draws],
) -> dict[str, Interval]:
    """Give each metric's interval, the same as `interval` would; metrics of the same queries share the draws."""
    found: dict[str, Interval] = {}
    for names, units in units_of(columns, clusters):
        found.update(zip(names, unit_intervals([units], **draws), strict=True))
    return {name: found[name] for name in columns}


def macro_interval(tasks: Sequence[tuple[npt.ArrayLike, Clusters]], **draws: Unpack[Draws]) -> Interval:
    """Give the mean over tasks of each task's mean, every task resampled by itself.

    A task without a value is left out, and `tasks` counts those that are left. The bounds are NaN where a task has
    one unit.
    """
    return unit_intervals([_one(values, clusters) for values, clusters in tasks], **draws)[0]


def paired(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    clusters: Clusters = None,
    **draws: Unpack[Draws],
) -> Paired:
    """Compare two methods on the same queries: the mean of a less b, its bootstrap interval and a sign-flip p-value.

    The test asks how often so large a difference comes about when in each unit the two methods may change places. It
    keeps its level at any n if they are alike, and with many units also if only their means are equal. Interval and
    test are two methods and can disagree at the edge.
    """
    return macro_paired([(a, b, clusters)], **draws)


def paired_all(
    a: Mapping[str, npt.ArrayLike],
    b: Mapping[str, npt.ArrayLike],
    clusters: Clusters = None,
    **draws: Unpack[Draws],
) -> dict[str, Paired]:
    """Compare two methods on each metric, the same as `paired` would; metrics of the same queries share the draws."""
    if a.keys() != b.keys():
        raise ValueError(f"both methods need the same metrics; one alone has {sorted(a.keys() ^ b.keys())}")
    differences = {name: _difference(a[name], b[name]) for name in a}
    found: dict[str, Paired] = {}
    for names, units in units_of(differences, clusters):
        found.update(zip(names, unit_pairs([units], **draws), strict=True))
    return {name: found[name] for name in a}


def macro_paired(
    tasks: Sequence[tuple[npt.ArrayLike, npt.ArrayLike, Clusters]],
    **draws: Unpack[Draws],
) -> Paired:
    """Compare two methods by the mean over tasks of each task's mean difference; tasks count as in `macro_interval`."""
    units = [_one(_difference(a, b), clusters) for a, b, clusters in tasks]
    return unit_pairs(units, **draws)[0]


def mcnemar(
    a: npt.ArrayLike, b: npt.ArrayLike, clusters: Clusters = None, *, resamples: int | None = None, seed: int = 0
) -> McNemar:
    """Compare two methods on a metric of 0 and 1 by the queries on which they disagree.

    McNemar's exact test supposes that queries are independent, so where any two share a cluster the disagreements of
    whole clusters change sides together instead, as in `paired`; `test` says which it was.
    """
    for name, values in (("a", vector(a)), ("b", vector(b))):
        if not np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
            raise ValueError(f"McNemar's test is for values of 0 and 1; {name} has others")
    difference = _difference(a, b)
    only_a, only_b = int(np.count_nonzero(difference == 1)), int(np.count_nonzero(difference == -1))
    units = _one(difference, clusters)
    if len(units) == units.n:
        p = float(binomtest(only_a, only_a + only_b).pvalue) if only_a + only_b else 1.0
        return McNemar(only_a, only_b, p, units.n, "exact")
    p = float(sign_flip_p(units.totals, units.magnitude, _draws([units], resamples), _stream(seed, 0, _FLIPS))[0])
    return McNemar(only_a, only_b, p, units.n, "cluster sign-flip")


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for being many, in the order given: each may then be read as if it were the only one.

    Holm's step-down method: the smallest of m is multiplied by m, the next by m - 1, and none falls below one that
    was smaller.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("a p-value lies between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return [float(value) for value in adjusted]


def _stream(seed: int, task: int, purpose: int) -> np.random.Generator:
    """Give each task and purpose draws of its own: tasks of one size that shared them would vary together."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(task, purpose)))


def unit_intervals(
    tasks: Sequence[Units], level: float = 0.95, resamples: int | None = None, seed: int = 0
) -> list[Interval]:
    """Give the interval of every metric that the tasks' units hold."""
    draws = _draws(tasks, resamples)
    present = [units for units in tasks if len(units)]
    low, high = _bounds(present or tasks, level, draws, seed)
    n, clusters = sum(units.n for units in present), sum(map(len, present))
    return [
        Interval(float(mean), float(least), float(most), n, clusters, len(present), draws)
        for mean, least, most in zip(_macro([units.means for units in present or tasks]), low, high, strict=True)
    ]


def unit_pairs(tasks: Sequence[Units], **draws: Unpack[Draws]) -> list[Paired]:
    """Give the comparison on every metric whose differences the tasks' units hold."""
    present = [units for units in tasks if len(units)] or tasks
    found = unit_intervals(tasks, **draws)
    totals = np.concatenate([units.totals / max(1, units.n) for units in present])
    magnitude = np.add.reduce([units.magnitude / max(1, units.n) for units in present])
    p = sign_flip_p(totals, magnitude, found[0].resamples, _stream(draws.get("seed", 0), 0, _FLIPS))
    return [
        Paired(each.mean, each.low, each.high, float(value), each.n, each.clusters, each.tasks, each.resamples)
        for each, value in zip(found, p, strict=True)
    ]


def _draws(tasks: Sequence[Units], resamples: int | None) -> int:
    if not tasks:
        raise ValueError("a mean over tasks needs a task")
    if resamples is not None and resamples < 1:
        raise ValueError(f"at least one resample is needed, not {resamples}")
    return resamples_for(sum(map(len, tasks))) if resamples is None else resamples


def _bounds(tasks: Sequence[Units], level: float, resamples: int, seed: int) -> tuple[Array, Array]:
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not at {level}")
    if min(map(len, tasks)) < 2:
        unknown = np.full(len(tasks[0].centre), np.nan)
        return unknown, unknown
    means = _macro([resampled_means(units, resamples, _stream(seed, at, _BOOTSTRAP)) for at, units in enumerate(tasks)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def _macro(means: Sequence[Array]) -> Array:
    macro: Array = np.add.reduce(means) / len(means)
    return macro


def _one(values: npt.ArrayLike, clusters: Clusters) -> Units:
    [(_, units)] = units_of({"values": values}, clusters)
    return units


def _difference(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    first, second = vector(a), vector(b)
    if len(first) != len(second):
        raise ValueError(f"a pair needs the same queries on both sides, not {len(first)} and {len(second)}")
    difference: Array = first - second
    return difference
