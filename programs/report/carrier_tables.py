"""The matched carrier control: the same lifecycle with a typed, role-owned state and with one shared text.

Beside it, the three elements of the typed carrier's contract apart, which the paper does not have.
"""

from __future__ import annotations

import math
from dataclasses import replace

from programs.report.cells import DIAGNOSTICS, diagnostic_cell, finished, mean_cell, metric_column
from programs.report.names import CARRIERS, ELEMENTS, FREE_FORM, TYPED, workload_label
from programs.report.paired_points import paired_points
from programs.report.published import published
from programs.report.results import Results
from programs.report.tables import Cell, Column, Table, TableRow

QUALITY = {"em": 4, "f1": 4, "accuracy": 4, "ret": 1}
TOKENS = {"tokens_reader": "Reader", "tokens_aux": "Aux.", "tokens_index": "Index", "ret": "RET"}
SHORT = {TYPED: "Typed", FREE_FORM: "Free-form"}


def carrier_table(results: Results) -> Table | None:
    """Table 3: quality and RET."""
    rows = [
        TableRow(
            label,
            tuple(mean_cell(results, carrier, workload, metric, "carriers") for metric in QUALITY),
            workload_label(workload),
        )
        for workload in results.summaries(CARRIERS)
        for carrier, label in CARRIERS.items()
    ]
    columns = tuple(metric_column(metric, decimals) for metric, decimals in QUALITY.items())
    return finished(results, Table("carriers", "Matched carrier control", columns, tuple(rows), stub="Carrier"))


def carrier_differences(results: Results) -> Table | None:
    """Supplement: the typed carrier less the free-form one, query by query, with intervals."""
    metrics = [metric for metric in QUALITY if metric != "ret"]
    found = paired_points(results, TYPED, [FREE_FORM])
    rows = [
        TableRow(
            "Typed minus Free-form",
            tuple(found.get((FREE_FORM, workload, metric), Cell()) for metric in metrics),
            workload_label(workload),
        )
        for workload in results.summaries(CARRIERS)
    ]
    columns = tuple(Column(metric, f"Δ{metric_column(metric, 2).label}", 2) for metric in metrics)
    title = "Typed minus Free-form, in percentage points"
    return finished(results, Table("carrier-differences", title, columns, tuple(rows), stub="Carrier"))


def carrier_tokens(results: Results) -> Table | None:
    """Supplement: where the tokens go, and the difference between the two."""
    rows: list[TableRow] = []
    for workload in results.summaries(CARRIERS):
        cells = {
            carrier: tuple(mean_cell(results, carrier, workload, metric, "carrier-tokens") for metric in TOKENS)
            for carrier in CARRIERS
        }
        rows += [TableRow(CARRIERS[carrier], found, workload_label(workload)) for carrier, found in cells.items()]
        pairs = zip(TOKENS, cells[TYPED], cells[FREE_FORM], strict=True)
        less = tuple(_less(workload, metric, typed, free_form) for metric, typed, free_form in pairs)
        rows.append(TableRow("Typed minus Free-form", less, workload_label(workload)))
    columns = tuple(Column(metric, label, 1) for metric, label in TOKENS.items())
    return finished(results, Table("carrier-tokens", "Carrier token profiles", columns, tuple(rows), stub="Carrier"))


def carrier_diagnostics(results: Results) -> Table | None:
    """Supplement: how the two ran, over the queries of all three LongBench tasks together, or of what else there is."""
    rows: list[TableRow] = []
    present = [carrier for carrier in CARRIERS if carrier in results.methods]
    for workload in results.summaries(CARRIERS):
        parts = [results.parts(carrier, workload) for carrier in present]
        sizes = [Cell(sum(map(len, tables)) or math.nan, decimals=0) for tables in parts]
        counted = [("queries", "Total queries", sizes)]
        counted += [
            (each.metric, each.label, [diagnostic_cell(tables, each) if tables else Cell() for tables in parts])
            for each in DIAGNOSTICS
        ]
        rows += [
            TableRow(
                label,
                tuple(_printed(cell, who, workload, metric) for who, cell in zip(present, cells, strict=True)),
                workload_label(workload),
            )
            for metric, label, cells in counted
        ]
    columns = tuple(Column(carrier, SHORT[carrier]) for carrier in present)
    title = "Execution diagnostics of the carrier control"
    return finished(results, Table("carrier-diagnostics", title, columns, tuple(rows), stub="Diagnostic"))


def contract_table(results: Results) -> Table | None:
    """Quality, cost and rejections with the contract's types alone, with owners too, and with all of it."""
    metrics = QUALITY | {"rejections": 3, "incomplete": 3, "evidence_records": 2, "admission_violations": 3}
    present = [name for name in ELEMENTS if name != TYPED and name in results.methods]
    rows = [
        TableRow(
            label,
            tuple(mean_cell(results, method, workload, metric) for metric in metrics),
            workload_label(workload),
        )
        for workload in results.summaries(present)
        for method, label in ELEMENTS.items()
    ]
    columns = tuple(metric_column(metric, decimals) for metric, decimals in metrics.items())
    title = "The contract's elements apart, a query"
    return finished(results, Table("contract-elements", title, columns, tuple(rows), stub="What is kept"))


def _less(workload: str, metric: str, typed: Cell, free_form: Cell) -> Cell:
    printed = published().value("carrier-differences", TYPED, f"{workload}.{metric}")
    return Cell(typed.value - free_form.value, n=typed.n, published=printed)


def _printed(cell: Cell, carrier: str, workload: str, metric: str) -> Cell:
    return replace(cell, published=published().value("carrier-diagnostics", carrier, f"{workload}.{metric}"))
