"""Averages over tasks, such as LongBench's, for many metrics at once.

Each number is what `macro_interval` and `macro_paired` give for one metric, from the same draws; metrics that are
defined for the same queries share them, because drawing is what takes the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

import numpy as np

from metrics.bootstrap import Array, Clusters, Units, units_of
from metrics.significance import Draws, Interval, Paired, unit_intervals, unit_pairs

Task = tuple[Mapping[str, Array], Clusters]
"""A task's metrics, and its queries' clusters."""


def macro_intervals(tasks: Sequence[Task], **draws: Unpack[Draws]) -> dict[str, Interval]:
    """Give the mean over tasks, with its interval, of every metric that all tasks have."""
    found: dict[str, Interval] = {}
    for names, units in _alike(tasks):
        found.update(zip(names, unit_intervals(units, **draws), strict=True))
    return found


def macro_pairs(tasks: Sequence[Task], **draws: Unpack[Draws]) -> dict[str, Paired]:
    """Give the mean over tasks of differences, with its interval and p-value, of every metric that all tasks have."""
    found: dict[str, Paired] = {}
    for names, units in _alike(tasks):
        found.update(zip(names, unit_pairs(units, **draws), strict=True))
    return found


def _alike(tasks: Sequence[Task]) -> Iterator[tuple[list[str], list[Units]]]:
    """Group the metrics that are defined for the same queries of every task, and give those queries' units."""
    groups: dict[tuple[bytes, ...], list[str]] = {}
    for name in tasks[0][0]:
        unknown = [np.isnan(columns[name]) for columns, _ in tasks if name in columns]
        if len(unknown) == len(tasks) and not any(each.all() for each in unknown):
            groups.setdefault(tuple(each.tobytes() for each in unknown), []).append(name)
    for names in groups.values():
        parts = [units_of({name: columns[name] for name in names}, clusters) for columns, clusters in tasks]
        yield names, [units for part in parts for _, units in part]
