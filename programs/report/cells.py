"""What the tables of a report share: a cell for a mean, sums of diagnostics, and leaving out what nobody measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.scores import METRICS, ScoreTable
from programs.report.names import base
from programs.report.published import published
from programs.report.results import Results
from programs.report.tables import Cell, Column, Table


@dataclass(frozen=True)
class Diagnostic:
    """A line of a table of diagnostics. Events are counted over all queries; work is given a query."""

    metric: str
    label: str
    decimals: int = 0
    is_mean: bool = False


DIAGNOSTICS = (
    Diagnostic("parse_failures", "Parse failures"),
    Diagnostic("incomplete", "Incomplete executions"),
    Diagnostic("truncations", "Context truncations"),
    Diagnostic("admission_violations", "Reader admission violations"),
    Diagnostic("cycles", "Cycles per query", 3, is_mean=True),
    Diagnostic("calls", "Total LLM calls per query", 2, is_mean=True),
    Diagnostic("reader_calls", "Reader calls per query", 4, is_mean=True),
    Diagnostic("reached_reader", "Queries reaching the reader"),
)
"""The paper's, in its order."""


def mean_cell(results: Results, method: str, workload: str, metric: str, paper: str | None = None) -> Cell:
    """Give a mean with its interval, and the value that the paper's table of this name prints."""
    printed = published().value(paper, base(method), f"{workload}.{metric}") if paper else math.nan
    found = results.interval(method, workload, metric)
    if found is None:
        return Cell(published=printed)
    return Cell(found.mean, found.low, found.high, found.n, printed)


def diagnostic_cell(tables: Sequence[ScoreTable], diagnostic: Diagnostic) -> Cell:
    """Count or average a diagnostic over the queries of some tables together."""
    column = np.concatenate([table.values[diagnostic.metric] for table in tables])
    known = column[~np.isnan(column)]
    if not known.size:
        return Cell()
    value = float(known.mean() if diagnostic.is_mean else known.sum())
    share = f"/{known.size:,}" if METRICS[diagnostic.metric].kind == "binary" else ""
    return Cell(value, n=known.size, note=share, decimals=diagnostic.decimals)


def metric_column(metric: str, decimals: int, workload: str = "", heading: str = "") -> Column:
    """Make a metric's column. Costs are not marked, as the paper does not mark RET: the least is not the best."""
    known = METRICS[metric]
    better = known.higher_is_better if known.group in ("answer", "evidence") else None
    label = {"accuracy": "Acc.", "tokens_aux": "Aux. tokens"}.get(metric, known.label)
    key = f"{workload}.{metric}" if workload else metric
    return Column(key, label, decimals, better, (heading,) if heading else ())


def finished(results: Results, table: Table) -> Table | None:
    """Leave out columns and rows without a value, and say what intervals and the paper's values are; None if empty."""
    valued = [row for row in table.rows if any(math.isfinite(cell.value) for cell in row.cells)]
    kept = [at for at in range(len(table.columns)) if any(math.isfinite(row.cells[at].value) for row in valued)]
    if not kept:
        return None
    return replace(
        table,
        columns=tuple(table.columns[at] for at in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in valued),
        about_intervals=f"Brackets are {results.level:.0%} bootstrap intervals; queries on one document are drawn "
        "together, and an average over tasks draws from each task by itself.",
        about_published=published().origin,
    )
