"""Synonymy: phrases whose vectors are near each other, so that two names of one thing meet in the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from programs.models.encoders.encoder import Vectors
from programs.progress import report

BLOCK = 512
"""Rows of the similarity matrix in memory at once: 100 MB of cosines where there are 50,000 phrases."""
DIGITS = 6
"""Decimals of a cosine that count: below them lies the rounding of a matrix product, which is not a preference."""
ROUNDING = 0.5 * 10.0**-DIGITS

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Synonyms:
    """Directed pairs (phrase, one of its nearest) and their cosines. Most pairs are there both ways round."""

    pairs: Indices
    cosines: npt.NDArray[np.float64]


def find_synonyms(
    phrases: Sequence[str], vectors: Vectors, threshold: float, neighbours: int, characters: int
) -> Synonyms:
    """Give each phrase's nearest others at or above the threshold, at most `neighbours`, ties by phrase order.

    A phrase of fewer letters and digits than `characters` looks for none, but may be found.
    """
    asking = np.array([n for n, phrase in enumerate(phrases) if is_long(phrase, characters)], dtype=np.int64)
    if not len(asking) or not neighbours:
        return Synonyms(np.empty((0, 2), np.int64), np.empty(0, np.float64))
    found = [_nearest(rows, cosines, threshold, neighbours) for rows, cosines in _blocks(asking, vectors)]
    pairs, cosines = (np.concatenate(part) for part in zip(*found, strict=True))
    return Synonyms(pairs, cosines)


def is_long(phrase: str, characters: int) -> bool:
    """Tell whether a phrase has enough letters and digits to be told apart by its vector."""
    return sum(character.isalnum() for character in phrase) >= characters


def _blocks(asking: Indices, vectors: Vectors) -> Iterator[tuple[Indices, Vectors]]:
    """Give some of the asking phrases and their cosines with all phrases; with themselves it is no neighbour."""
    report("synonyms", 0, len(asking))
    for start in range(0, len(asking), BLOCK):
        rows = asking[start : start + BLOCK]
        cosines = vectors[rows] @ vectors.T
        cosines[np.arange(len(rows)), rows] = -np.inf
        yield rows, cosines
        report("synonyms", start + len(rows), len(asking))


def _nearest(
    rows: Indices, cosines: Vectors, threshold: float, neighbours: int
) -> tuple[Indices, npt.NDArray[np.float64]]:
    """Raise the edge of crowded rows to their last place first, so that few entries are left to sort."""
    width = cosines.shape[1]
    edges = np.full(len(rows), threshold - ROUNDING, dtype=np.float32)
    crowded = np.nonzero(np.count_nonzero(cosines >= edges[:, None], axis=1) > neighbours)[0]
    if len(crowded):
        best = np.partition(cosines[crowded], width - neighbours, axis=1)[:, width - neighbours]
        edges[crowded] = np.maximum(edges[crowded], best - 2 * ROUNDING)
    row, column = np.divmod(np.flatnonzero(cosines >= edges[:, None]), width)
    values: npt.NDArray[np.float64] = np.asarray(cosines[row, column], dtype=np.float64).round(DIGITS)
    order = np.lexsort((column, -values, row))
    row, column, values = row[order], column[order], values[order]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    kept = (place < neighbours) & (values >= threshold)
    return np.column_stack((rows[row[kept]], column[kept])), values[kept]
