"""Whether systems differ: every other against one, on the queries that both have, corrected for being many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metrics.bootstrap import MOST
from metrics.macros import macro_pairs
from metrics.scores import METRICS, ScoreTable
from metrics.significance import McNemar, Paired, holm, mcnemar, paired_all
from programs.errors import InputError
from programs.report.names import DOCVQA, MACRO, QASPER, method_label, workload_label
from programs.report.results import FEWER, LARGE, Results
from programs.report.tables import Cell, Column, Table, TableRow

CHOSEN = {QASPER: ("em", "f1", "accuracy"), DOCVQA: ("anls", "accuracy")}
"""The paper's metrics of a workload; elsewhere they are EM and F1."""
EVIDENCE = ("passage_found", "passage_recall", "recall@5")
"""Compared where the gold passages or sources are known."""
SMALLEST = 0.0001
"""A smaller p-value is shown as smaller than this."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """One system less another in one metric. Everything is over the queries that both have."""

    workload: str
    metric: str
    system: str
    reference: str
    system_mean: float
    reference_mean: float
    paired: Paired
    mcnemar: McNemar | None
    """For metrics of 0 and 1 on one workload."""
    left_out: int
    """Queries that only one of the two has."""
    p_holm: float = math.nan
    """The p-value adjusted for all comparisons that were made together, which are `family`."""
    family: int = 1

    @property
    def p(self) -> float:
        """McNemar's where there is one: it is the paired test without the error of its random flips."""
        return self.mcnemar.p if self.mcnemar else self.paired.p


@dataclass(frozen=True)
class Common:
    """The queries that two systems have on one workload, in the reference's order."""

    system: ScoreTable
    reference: ScoreTable
    rows: tuple[list[int], list[int]]

    @classmethod
    def of(cls, system: ScoreTable, reference: ScoreTable) -> Common:
        """Match queries by their ids."""
        place = {query_id: row for row, query_id in enumerate(system.query_ids)}
        theirs = [row for row, query_id in enumerate(reference.query_ids) if query_id in place]
        return cls(system, reference, ([place[reference.query_ids[row]] for row in theirs], theirs))

    @property
    def left_out(self) -> int:
        """Queries of either that the other lacks."""
        return len(self.system) + len(self.reference) - 2 * len(self.rows[0])

    @property
    def clusters(self) -> list[str]:
        """The common queries' clusters."""
        return [self.reference.clusters[row] for row in self.rows[1]]

    def values(self, metric: str) -> tuple[Values, Values]:
        """The two systems' values, query by query; where one is not defined, neither is."""
        ours = self.system.values[metric][self.rows[0]]
        theirs = self.reference.values[metric][self.rows[1]]
        defined = ~(np.isnan(ours) | np.isnan(theirs))
        return np.where(defined, ours, np.nan), np.where(defined, theirs, np.nan)

    def difference(self, metric: str) -> Values:
        """The system's values less the reference's."""
        ours, theirs = self.values(metric)
        return ours - theirs

    def shares(self, metric: str) -> bool:
        """Tell whether both have a value for some query."""
        return not np.isnan(self.values(metric)[0]).all()


@dataclass(frozen=True)
class Comparer:
    """How comparisons are made."""

    level: float = 0.95
    resamples: int | None = None
    seed: int = 0

    def on_one(self, common: Common, metrics: Sequence[str]) -> Iterator[Comparison]:
        """Compare two systems on one workload."""
        values = {metric: common.values(metric) for metric in metrics}
        found = paired_all(
            {metric: ours for metric, (ours, _) in values.items()},
            {metric: theirs for metric, (_, theirs) in values.items()},
            common.clusters,
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
        for metric, (ours, theirs) in values.items():
            binary = METRICS[metric].kind == "binary"
            exact = mcnemar(ours, theirs, common.clusters, resamples=self.resamples, seed=self.seed) if binary else None
            yield self._made(common.reference.workload, metric, [common], found[metric], exact)

    def over_tasks(self, commons: Sequence[Common], metrics: Sequence[str]) -> Iterator[Comparison]:
        """Compare two systems by the unweighted mean over LongBench's tasks."""
        tasks = [({metric: common.difference(metric) for metric in metrics}, common.clusters) for common in commons]
        found = macro_pairs(tasks, level=self.level, resamples=self.resamples, seed=self.seed)
        for metric in metrics:
            yield self._made(MACRO, metric, commons, found[metric], None)

    def _made(
        self, workload: str, metric: str, commons: Sequence[Common], paired: Paired, exact: McNemar | None
    ) -> Comparison:
        means = np.mean([[np.nanmean(side) for side in common.values(metric)] for common in commons], axis=0)
        return Comparison(
            workload=workload,
            metric=metric,
            system=commons[0].system.method,
            reference=commons[0].reference.method,
            system_mean=float(means[0]),
            reference_mean=float(means[1]),
            paired=paired,
            mcnemar=exact,
            left_out=sum(common.left_out for common in commons),
        )


def compare(
    tables: Sequence[ScoreTable],
    *,
    reference: str | None = None,
    metrics: Sequence[str] | None = None,
    comparer: Comparer | None = None,
) -> list[Comparison]:
    """Compare every other system with `reference` (by default the first), by workload and over LongBench's tasks.

    Without `metrics` they are the paper's for each workload, and evidence recall where it is known.
    """
    chosen = _check(tables, reference, metrics)
    wanted: list[tuple[list[Common], Sequence[str]]] = []
    for workload, commons in _commons(Results(tables), chosen):
        names = metrics or (*CHOSEN.get(workload, ("em", "f1")), *EVIDENCE)
        wanted.append((commons, [name for name in names if all(common.shares(name) for common in commons)]))
    by = comparer or Comparer(resamples=_enough(tables, sum(len(names) for _, names in wanted)))
    found: list[Comparison] = []
    for commons, names in wanted:
        found += by.on_one(commons[0], names) if len(commons) == 1 else by.over_tasks(commons, names)
    if not found:
        raise InputError(
            f"{chosen!r} and the other systems have no scored query in common; compare runs on the same questions"
        )
    adjusted = holm([each.p for each in found])
    return [replace(each, p_holm=p, family=len(found)) for each, p in zip(found, adjusted, strict=True)]


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Tabulate comparisons; render it with intervals."""
    reference = method_label(comparisons[0].reference)
    columns = (
        Column("reference", reference, 4),
        Column("system", "System", 4),
        Column("difference", "Difference", 4),
        Column("p", "p", 4),
        Column("p_holm", "p (Holm)", 4),
        Column("only_system", "Only system", 0),
        Column("only_reference", f"Only {reference}", 0),
        Column("n", "n", 0),
        Column("left_out", "Left out", 0),
    )
    rows = tuple(
        TableRow(
            f"{method_label(each.system)}: {METRICS[each.metric].label}", _cells(each), workload_label(each.workload)
        )
        for each in comparisons
    )
    tests = {each.mcnemar.test for each in comparisons if each.mcnemar}
    notes = (
        f"Difference is system less {reference}, over the n queries that both have; its brackets are bootstrap bounds "
        "(queries on one document drawn together).",
        "p is two-sided, by flipping signs of queries or documents"
        + (f", and McNemar's ({', '.join(sorted(tests))}) for metrics of 0 and 1" if tests else "")
        + f"; Holm's is adjusted for the {comparisons[0].family} comparisons made.",
    )
    return Table("comparison", f"Systems against {reference}", columns, rows, stub="System: metric", notes=notes)


def _cells(each: Comparison) -> tuple[Cell, ...]:
    found, sides = each.paired, each.mcnemar
    return (
        Cell(each.reference_mean),
        Cell(each.system_mean),
        Cell(found.difference, found.low, found.high),
        _p(each.p),
        _p(each.p_holm),
        Cell(sides.only_a if sides else math.nan),
        Cell(sides.only_b if sides else math.nan),
        Cell(found.n),
        Cell(each.left_out),
    )


def _p(value: float) -> Cell:
    return Cell(value, text=f"< {SMALLEST}" if value < SMALLEST else "")


def _commons(results: Results, reference: str) -> Iterator[tuple[str, list[Common]]]:
    """Give each pair of systems by workload: one pair of tables, or the three of LongBench's average."""
    for workload in results.with_macro:
        for system in results.systems:
            if system != reference and results.has(system, workload) and results.has(reference, workload):
                pairs = zip(results.parts(system, workload), results.parts(reference, workload), strict=True)
                yield workload, [Common.of(ours, theirs) for ours, theirs in pairs]


def _enough(tables: Sequence[ScoreTable], comparisons: int) -> int | None:
    """On large tables, draw no more than lets the smallest p-value be 0.02 when it is adjusted for all."""
    return min(max(50 * comparisons, FEWER), MOST) if max(map(len, tables)) > LARGE else None


def _check(tables: Sequence[ScoreTable], reference: str | None, metrics: Sequence[str] | None) -> str:
    systems = list(dict.fromkeys(table.method for table in tables))
    if len(systems) < 2:
        raise InputError(f"a comparison needs two systems; there is {', '.join(systems) or 'none'}")
    if reference is not None and reference not in systems:
        raise InputError(f"no system is called {reference!r}; there are {', '.join(systems)}")
    unknown = [metric for metric in metrics or () if metric not in METRICS]
    if unknown:
        raise InputError(f"no metric is called {unknown[0]!r}; there are {', '.join(METRICS)}")
    return reference or systems[0]
