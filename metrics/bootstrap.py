"""Resampling of queries, or of clusters of queries that share a document, for many metrics at once.

A unit is what is drawn as a whole: a cluster where queries share one, else a query. A resample is a row of counts, how
often each unit was drawn, so a block of resamples of all metrics is one matrix product.

Clusters are taken in the order of their names, so the order of queries does not matter; queries without clusters are
taken in the order given. The draws depend on the number of units and the seed alone, never on the values: swapping two
methods flips every resampled difference exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Clusters = Sequence[str] | None
"""The cluster of each query, by name; None where every query stands alone."""

MOST, FEWEST = 10_000, 2_000
"""Resamples of a small table and of a large one. With 2,000 a bound of a 95 % interval is off by chance by about a
thirtieth of the half width, with 10,000 by a seventieth."""
DRAWS = 100_000_000
"""Units drawn in all, about, which is what sets the number of resamples between the two."""
CELLS = 1 << 20
"""Counts in memory at once."""
ROUNDING = 1e-10
"""Share of the sum of absolute differences below which two sums are a tie: what rounding leaves is not evidence."""


@dataclass(frozen=True)
class Units:
    """Sums of values by unit and metric, and the queries of each unit.

    Values are taken less their median: what rounding leaves is then in proportion to the spread, not to the size, and
    equal values have an interval of no width at all.
    """

    sums: Array
    sizes: Array
    centre: Array
    magnitude: Array
    """The sum of absolute values as they were given, by metric."""

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def n(self) -> int:
        """Queries in all units."""
        return int(self.sizes.sum())

    @property
    def means(self) -> Array:
        """The mean over queries, by metric; NaN where there are none."""
        means: Array = self.centre + self.sums.sum(axis=0) / max(1, self.n)
        return means

    @property
    def totals(self) -> Array:
        """Sums of the values as they were given, by unit and metric."""
        totals: Array = self.sums + self.sizes[:, None] * self.centre
        return totals


def units_of(columns: Mapping[str, npt.ArrayLike], clusters: Clusters) -> Iterator[tuple[list[str], Units]]:
    """Group the metrics that are defined for the same queries, and give those queries' units; NaN is not defined."""
    vectors = {name: vector(values) for name, values in columns.items()}
    lengths = {len(values) for values in vectors.values()} | ({len(clusters)} if clusters is not None else set())
    if len(lengths) > 1:
        raise ValueError(f"each query needs one value a metric and one cluster; the lengths are {sorted(lengths)}")
    groups: dict[bytes, list[str]] = {}
    for name, values in vectors.items():
        groups.setdefault(np.isnan(values).tobytes(), []).append(name)
    for names in groups.values():
        present = ~np.isnan(vectors[names[0]])
        kept = None if clusters is None else list(compress(clusters, present))
        yield names, _gather(np.column_stack([vectors[name][present] for name in names]), kept)


def vector(values: npt.ArrayLike) -> Array:
    """Check that values are one number a query."""
    checked = np.asarray(values, dtype=np.float64)
    if checked.ndim != 1 or np.isinf(checked).any():
        raise ValueError("values are one finite number a query, or NaN where it is not defined")
    return checked


def resamples_for(units: int) -> int:
    """Choose how many resamples: 10,000 for up to 10,000 units, fewer above that, 2,000 from 50,000 on."""
    return int(np.clip(DRAWS // max(units, 1), FEWEST, MOST))


def resampled_means(units: Units, resamples: int, rng: np.random.Generator) -> Array:
    """Draw as many units as there are, with replacement, and give the mean over their queries, a row a resample.

    The mean is a ratio, the drawn units' sum over the drawn units' queries, because units differ in size.
    """
    table = np.column_stack([units.sums, units.sizes])
    totals = np.concatenate([_counts(rows, len(units), rng) @ table for rows in _blocks(resamples, len(units))])
    means: Array = units.centre + totals[:, :-1] / totals[:, -1:]
    return means


def sign_flip_p(totals: Array, magnitude: Array, resamples: int, rng: np.random.Generator) -> Array:
    """Give the two-sided p-value of each metric's sum of differences, by flipping the signs of whole units.

    Were the two methods alike, each unit's difference could as well have had the other sign. The value is the share
    of random flips whose sum is at least as far from 0, the observed one counted among them: (1 + hits) / (1 + flips).
    A tie is judged by the queries' own magnitude, for the differences inside a unit may cancel and leave rounding only.
    """
    observed = totals.sum(axis=0)
    least = np.abs(observed) - ROUNDING * magnitude
    hits = np.zeros(totals.shape[1])
    for rows in _blocks(resamples, len(totals)):
        kept = rng.integers(2, size=(rows, len(totals)), dtype=np.bool_).astype(np.float64)
        flipped = 2 * (kept @ totals) - observed
        hits += np.count_nonzero(np.abs(flipped) >= least, axis=0)
    p: Array = (1 + hits) / (1 + resamples)
    return p


def _gather(values: Array, clusters: Clusters) -> Units:
    magnitude = np.abs(values).sum(axis=0)
    if not len(values):
        return Units(np.empty(values.shape), np.empty(0), np.full(values.shape[1], np.nan), magnitude)
    centre = np.median(values, axis=0)
    spread = values - centre
    if clusters is None:
        return Units(spread, np.ones(len(values)), centre, magnitude)
    place = {name: at for at, name in enumerate(sorted(set(clusters)))}
    member = np.fromiter((place[name] for name in clusters), dtype=np.intp, count=len(values))
    sums = [np.bincount(member, weights=column, minlength=len(place)) for column in spread.T]
    return Units(np.column_stack(sums), np.bincount(member).astype(np.float64), centre, magnitude)


def _blocks(resamples: int, units: int) -> Iterator[int]:
    most = max(1, CELLS // max(units, 1))
    for done in range(0, resamples, most):
        yield min(most, resamples - done)


def _counts(rows: int, units: int, rng: np.random.Generator) -> Array:
    drawn = rng.integers(units, size=(rows, units))
    drawn += np.arange(rows)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)
