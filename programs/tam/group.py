"""Agglomerative cosine grouping with a cap on members, and overlapping assignment.

The pairs of n items do not fit in memory for large n, so each item keeps its nearest neighbours only. A group has
at most `members` items, so an item's far neighbours matter only once its near ones are in full groups; for those
items the search is repeated among the items whose groups still have room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from programs.models.encoders.encoder import Vectors
from programs.progress import report

Group = tuple[int, ...]
Indices = npt.NDArray[np.int64]

NEIGHBOURS = 4
"""Neighbours kept of each item, in multiples of the member cap."""
ROUNDS = 4
"""Searches at most; each later one is among the items whose groups have room, and fewer than the one before."""
BLOCK = 512
"""Rows of the similarity matrix that are in memory at once,"""
CELLS = BLOCK * 16384
"""and cosines: of very many items, fewer rows."""
STEP = "comparing regions"
SMALL = 128 * 128
"""Cosines up to which a plain loop is used: waking the threads of a matrix product can take 20 ms on a busy machine."""
DIGITS = 6
"""Decimals of a cosine that count: below them lies the rounding of a matrix product, which is not a preference."""


def cosine_groups(vectors: Vectors, threshold: float, members: int, parents: int = 2) -> list[Group]:
    """Group items so that each is in 1…`parents` groups of at most `members`, ordered by smallest member."""
    unit = unit_rows(vectors)
    merged = _merge_rounds(unit, threshold, members)
    groups = _assign_further(unit, merged, threshold, members, parents) if parents > 1 else merged
    return sorted(_without_subsets(groups))


def unit_rows(vectors: Vectors) -> Vectors:
    """Scale rows to length one; a zero row stays zero and so is similar to nothing."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, norms, out=np.zeros(vectors.shape, np.float32), where=norms > 0)
    return unit


def _merge_rounds(unit: Vectors, threshold: float, members: int) -> list[Group]:
    forest = _Forest(unit, members)
    active: Indices = np.arange(len(unit))
    for _ in range(ROUNDS):
        pairs, complete = _nearest_pairs(unit, active, threshold, NEIGHBOURS * members)
        merges = sum(forest.merge(int(i), int(j), threshold) for i, j in pairs)
        if complete or not merges:
            break
        active = np.array([i for i in active if forest.has_room(int(i))], dtype=np.int64)
    return forest.groups()


class _Forest:
    """Groups under construction: disjoint sets with the sum of each set's vectors at its root."""

    def __init__(self, unit: Vectors, members: int) -> None:
        self._root = list(range(len(unit)))
        self._size = [1] * len(unit)
        self._sum = unit.astype(np.float64)
        self._norm = np.linalg.norm(self._sum, axis=1).tolist()
        self._members = members

    def find(self, item: int) -> int:
        """Give the root of an item's set."""
        root = self._root
        while root[item] != item:
            root[item] = root[root[item]]
            item = root[item]
        return item

    def has_room(self, item: int) -> bool:
        """Tell whether the item's group may still grow."""
        return self._size[self.find(item)] < self._members

    def merge(self, i: int, j: int, threshold: float) -> bool:
        """Join two items' groups where the cap and the cosine of the centroids allow it."""
        a, b = sorted((self.find(i), self.find(j)))
        if a == b or self._size[a] + self._size[b] > self._members:
            return False
        scale = self._norm[a] * self._norm[b]
        cosine = round(float(self._sum[a] @ self._sum[b]) / scale, DIGITS) if scale else 0.0
        if cosine < threshold:
            return False
        self._root[b] = a
        self._size[a] += self._size[b]
        self._sum[a] += self._sum[b]
        self._norm[a] = float(np.linalg.norm(self._sum[a]))
        return True

    def groups(self) -> list[Group]:
        """List the sets, by smallest member."""
        found: dict[int, list[int]] = {}
        for item in range(len(self._root)):
            found.setdefault(self.find(item), []).append(item)
        return [tuple(group) for group in found.values()]


def _nearest_pairs(unit: Vectors, active: Indices, threshold: float, neighbours: int) -> tuple[Indices, bool]:
    """Give pairs at or above the threshold, most similar first and ties by index; and whether that is all of them."""
    rows = unit[active]
    found: list[tuple[Indices, Indices, Vectors]] = []
    complete = True
    for start, cosines in _similarity_blocks(rows, rows):
        own = np.arange(len(cosines))
        cosines[own, own + start] = -np.inf
        left, right, crowded = _top(cosines, threshold, neighbours, start)
        found.append((active[left + start], active[right], cosines[left, right]))
        complete = complete and not crowded
    if not found:
        return np.empty((0, 2), np.int64), True
    left, right, values = (np.concatenate(part) for part in zip(*found, strict=True))
    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((high, low, -values))
    _, firsts = np.unique(low[order] * len(unit) + high[order], return_index=True)
    once = order[np.sort(firsts)]
    pairs = np.stack([low[once], high[once]], axis=1)
    return pairs, complete


def _similarity_blocks(rows: Vectors, columns: Vectors) -> Iterator[tuple[int, Vectors]]:
    size = min(BLOCK, max(1, CELLS // max(1, len(columns))))
    for start in range(0, len(rows), size):
        if len(rows) > BLOCK:
            report(STEP, start, len(rows))
        products = _products(rows[start : start + size], columns)
        yield start, np.round(products, DIGITS, out=products)
    if len(rows) > BLOCK:
        report(STEP, len(rows), len(rows))


def _products(rows: Vectors, columns: Vectors) -> Vectors:
    small = len(rows) * len(columns) <= SMALL
    products: Vectors = np.einsum("id,jd->ij", rows, columns) if small else rows @ columns.T
    return products


def _top(cosines: Vectors, threshold: float, keep: int, offset: int) -> tuple[Indices, Indices, bool]:
    """Give (row, column) of each row's best `keep` entries at or above the threshold, and whether any were left out.

    Of equals at the edge, a row keeps the columns that follow its own, so that the rows of many identical items do
    not all keep the same few.
    """
    width = cosines.shape[1]
    kept = cosines >= threshold
    crowded = np.nonzero(np.count_nonzero(kept, axis=1) > keep)[0]
    if len(crowded):
        edge = np.partition(cosines[crowded], width - keep, axis=1)[:, width - keep, None]
        kept[crowded] = cosines[crowded] >= edge
        for row in crowded[np.count_nonzero(kept[crowded], axis=1) > keep]:
            inside = np.nonzero(kept[row])[0]
            ranks = np.lexsort(((inside - row - offset) % width, -cosines[row, inside]))
            kept[row, inside[ranks[keep:]]] = False
    rows, columns = np.divmod(np.flatnonzero(kept), width)  # several times faster than nonzero of two axes
    return rows, columns, len(crowded) > 0


def _assign_further(
    unit: Vectors, groups: Sequence[Group], threshold: float, members: int, parents: int
) -> list[Group]:
    """Let items join further groups that have room and whose centroid is near, best first, ties by group order."""
    open_groups = [g for g, group in enumerate(groups) if len(group) < members]
    if not open_groups:
        return list(groups)
    centroids = unit_rows(np.stack([unit[list(groups[g])].sum(axis=0) for g in open_groups]))
    joined = [set(group) for group in groups]
    memberships = [1] * len(unit)
    for place, item in _candidates(unit, centroids, threshold, members):
        group = joined[open_groups[place]]
        if item not in group and len(group) < members and memberships[item] < parents:
            group.add(item)
            memberships[item] += 1
    return [tuple(sorted(group)) for group in joined]


def _candidates(unit: Vectors, centroids: Vectors, threshold: float, members: int) -> list[tuple[int, int]]:
    """Give (place among the open groups, item), best first."""
    found: list[tuple[Indices, Indices, Vectors]] = []
    for start, cosines in _similarity_blocks(unit, centroids):
        items, places, _ = _top(cosines, threshold, members, start)
        found.append((places, items + start, cosines[items, places]))
    places, items, values = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.lexsort((items, places, -values))
    return list(zip(places[order].tolist(), items[order].tolist(), strict=True))


def _without_subsets(groups: Sequence[Group]) -> list[Group]:
    """Drop a group that another one contains; of equal groups the first stays."""
    holding: dict[int, list[int]] = {}
    for g, group in enumerate(groups):
        for item in group:
            holding.setdefault(item, []).append(g)
    return [group for g, group in enumerate(groups) if not _is_contained(g, groups, holding[group[0]])]


def _is_contained(g: int, groups: Sequence[Group], rivals: Sequence[int]) -> bool:
    own = set(groups[g])
    return any(h != g and own <= set(groups[h]) and (len(own) < len(groups[h]) or h < g) for h in rivals)
