"""The score tables of a report, found by method and workload, with the interval of every mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from metrics.macros import macro_intervals
from metrics.scores import ScoreTable
from metrics.significance import Interval, intervals
from programs.errors import InputError
from programs.report.names import LONGBENCH, MACRO, WORKLOADS, in_order

LARGE = 2_000
"""Queries above which intervals are made from fewer resamples than a small table's."""
FEWER = 2_000
"""Enough for what a table prints: by chance a bound is off by about a twentieth of the interval's half width."""


class Results:
    """Methods by workloads. A workload `longbench` is the mean over its tasks, where a method has run them all."""

    def __init__(self, tables: Sequence[ScoreTable], *, level: float = 0.95, seed: int = 0) -> None:
        self.level = level
        self.seed = seed
        self._tables: dict[tuple[str, str], ScoreTable] = {}
        self._intervals: dict[tuple[str, str], dict[str, Interval]] = {}
        self._macros: dict[str, dict[str, Interval]] = {}
        for table in tables:
            key = (table.method, table.workload)
            if key in self._tables:
                raise InputError(
                    f"two runs of {table.method!r} on {table.workload!r} are in one report; leave one out, or give "
                    "them names of their own"
                )
            self._tables[key] = table

    @property
    def scored(self) -> list[ScoreTable]:
        """All tables, in the order in which they came."""
        return list(self._tables.values())

    @cached_property
    def methods(self) -> list[str]:
        """Every method, in the order in which tables show them."""
        return in_order(method for method, _ in self._tables)

    @cached_property
    def systems(self) -> list[str]:
        """Every method, in the order in which its first table came."""
        return list(dict.fromkeys(method for method, _ in self._tables))

    @cached_property
    def workloads(self) -> list[str]:
        """Every workload that ran: the paper's first, in its order."""
        found = dict.fromkeys(workload for _, workload in self._tables)
        return [name for name in WORKLOADS if name in found] + sorted(name for name in found if name not in WORKLOADS)

    @cached_property
    def with_macro(self) -> list[str]:
        """The workloads, with LongBench's average after its tasks where some method ran them all."""
        found = {*self.workloads, *(MACRO for method in self.methods if self.has(method, MACRO))}
        return [name for name in WORKLOADS if name in found] + [n for n in self.workloads if n not in WORKLOADS]

    def summaries(self, methods: Iterable[str]) -> list[str]:
        """Name the workloads that some of the methods ran; LongBench stands for its tasks where one ran them all."""
        chosen = list(methods)
        found = [name for name in self.with_macro if any(self.has(method, name) for method in chosen)]
        return [name for name in found if MACRO not in found or name not in LONGBENCH]

    def table(self, method: str, workload: str) -> ScoreTable | None:
        """Give a method's scores on a workload, or None where it did not run."""
        return self._tables.get((method, workload))

    def parts(self, method: str, workload: str) -> list[ScoreTable]:
        """Give the tables behind a workload: the three of `longbench`, else one; none where one is missing."""
        names = list(LONGBENCH) if workload == MACRO else [workload]
        found = [self._tables[method, name] for name in names if (method, name) in self._tables]
        return found if len(found) == len(names) else []

    def has(self, method: str, workload: str) -> bool:
        """Tell whether a method ran a workload, or all of its tasks."""
        return bool(self.parts(method, workload))

    def interval(self, method: str, workload: str, metric: str) -> Interval | None:
        """Give a mean with its bounds, queries of one cluster taken together; None where the metric is not defined."""
        if workload == MACRO:
            return self._macro(method, metric)
        table = self.table(method, workload)
        if table is None or metric not in table.values or np.isnan(table.values[metric]).all():
            return None
        return self._of(table)[metric]

    def mean(self, method: str, workload: str, metric: str) -> float:
        """Give a mean alone; NaN where the metric is not defined."""
        found = self.interval(method, workload, metric)
        return math.nan if found is None else found.mean

    def _of(self, table: ScoreTable) -> dict[str, Interval]:
        """Work out all of a table's intervals at once, since they can share their resamples."""
        key = (table.method, table.workload)
        if key not in self._intervals:
            self._intervals[key] = intervals(
                {name: table.values[name] for name in table.defined},
                table.clusters,
                level=self.level,
                resamples=FEWER if len(table) > LARGE else None,
                seed=self.seed,
            )
        return self._intervals[key]

    def _macro(self, method: str, metric: str) -> Interval | None:
        parts = self.parts(method, MACRO)
        if not parts:
            return None
        if method not in self._macros:
            self._macros[method] = macro_intervals(
                [(part.values, part.clusters) for part in parts],
                level=self.level,
                resamples=FEWER if sum(map(len, parts)) > LARGE else None,
                seed=self.seed,
            )
        return self._macros[method].get(metric)
