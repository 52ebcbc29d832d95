"""One method less others in percentage points, query by query, beside what the paper prints of it."""

from __future__ import annotations

from collections.abc import Sequence

from programs.report.comparison import compare
from programs.report.published import published
from programs.report.results import Results
from programs.report.tables import Cell

POINTS = 100
PRINTED = {"ablation-differences", "carrier-differences"}
"""The paper's tables of differences. Each has a row a pair, under the name of one of the two."""


def paired_points(results: Results, of: str, others: Sequence[str]) -> dict[tuple[str, str, str], Cell]:
    """Give `of` less each other, by the other, workload and metric; nothing of what did not run."""
    tables = [table for table in results.scored if table.method in (of, *others)]
    if len({table.method for table in tables}) < 2 or of not in {table.method for table in tables}:
        return {}
    found = {}
    for each in compare(tables, reference=of, metrics=("em", "f1", "accuracy")):
        paired, column = each.paired, f"{each.workload}.{each.metric}"
        printed = [published().value(table, name, column) for table in PRINTED for name in (each.system, of)]
        known = [value for value in printed if value == value]
        found[each.system, each.workload, each.metric] = Cell(
            0.0 - POINTS * paired.difference,
            0.0 - POINTS * paired.high,
            0.0 - POINTS * paired.low,
            paired.n,
            published=known[0] if known else float("nan"),
        )
    return found
