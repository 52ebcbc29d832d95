"""A method run in several ways, side by side: what each way gives and costs, and its difference from the first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from programs.report.cells import finished, mean_cell, metric_column
from programs.report.comparison import compare
from programs.report.names import base, method_label, workload_label
from programs.report.results import Results
from programs.report.run_tables import hit_rate_cell
from programs.report.tables import Cell, Column, Table, TableRow
from programs.reproduce.studies import Arm, PaperStudy

SHOWN = {
    "em": 4,
    "f1": 4,
    "accuracy": 4,
    "passage_found": 3,
    "passage_recall": 3,
    "recall@5": 3,
    "ret": 1,
    "latency": 1,
    "incomplete": 3,
    "parse_failures": 3,
}
DIFFERS = ("f1", "passage_found", "recall@5")
"""Of which the difference from the first way is given, with its interval."""
LESS = "less"


def named_by_arm(scored: Mapping[Arm, Sequence[ScoreTable]]) -> list[ScoreTable]:
    """Name each method by the way that it was run in."""
    return [replace(table, method=f"{arm.label}/{table.method}") for arm, tables in scored.items() for table in tables]


def arm_table(study: PaperStudy, scored: Mapping[Arm, Sequence[ScoreTable]]) -> Table | None:
    """Tabulate a study's ways; None where nothing of it ran."""
    tables = named_by_arm(scored)
    results = Results(tables)
    first = study.arms[0].label
    differences = {
        (system, workload, metric): cell
        for method in study.methods
        for (system, workload, metric), cell in _differences(tables, f"{first}/{method}").items()
    }
    names = [f"{arm.label}/{method}" for method in study.methods for arm in study.arms]
    rows = [
        TableRow(
            method_label(name),
            (
                *(mean_cell(results, name, workload, metric) for metric in SHOWN),
                _hit_rate(results, name, workload, first),
                *(differences.get((name, workload, metric), Cell()) for metric in DIFFERS),
            ),
            workload_label(workload),
        )
        for workload in results.summaries(names)
        for name in names
        if results.has(name, workload)
    ]
    columns = (
        *(metric_column(metric, decimals) for metric, decimals in SHOWN.items()),
        Column("hit_rate", "Hit rate (%)", 2),
        *(Column(f"{LESS}.{metric}", f"{METRICS[metric].label} less first", 3) for metric in DIFFERS),
    )
    notes = (f"“Less first” is the difference from “{first}” of the same method, over the queries that both have.",)
    made = Table(study.name, study.title, columns, tuple(rows), stub="Way", notes=notes)
    return finished(results, made) if rows else None


def _hit_rate(results: Results, name: str, workload: str, first: str) -> Cell:
    """Give a hit rate, beside the paper's where the method runs as it is set."""
    found = hit_rate_cell(results, name, workload)
    return found if name.startswith(f"{first}/") else replace(found, published=math.nan)


def _differences(tables: Sequence[ScoreTable], reference: str) -> dict[tuple[str, str, str], Cell]:
    """Compare the other ways of a method with its first."""
    method = base(reference)
    concerned = [table for table in tables if base(table.method) == method]
    if len({table.method for table in concerned}) < 2 or reference not in {table.method for table in concerned}:
        return {}
    metrics = [metric for metric in DIFFERS if any(metric in table.defined for table in concerned)]
    return {
        (each.system, each.workload, each.metric): Cell(
            each.paired.difference, each.paired.low, each.paired.high, each.paired.n
        )
        for each in compare(concerned, reference=reference, metrics=metrics)
    }
