"""The paper's tables of quality, from a run's scores, as far as the run has the methods and workloads of each."""

from __future__ import annotations

from collections.abc import Sequence

from programs.report.carrier_tables import (
    carrier_diagnostics,
    carrier_differences,
    carrier_table,
    carrier_tokens,
    contract_table,
)
from programs.report.cells import finished, mean_cell, metric_column
from programs.report.names import (
    CARRIERS,
    DOCVQA,
    ELEMENTS,
    FLAT_FUSION,
    LONGBENCH,
    MACRO,
    QASPER,
    REMOVALS,
    STATERAG,
    WORKLOADS,
    base,
    is_staterag,
    is_variant,
    method_label,
    workload_label,
)
from programs.report.paired_points import paired_points
from programs.report.results import Results
from programs.report.tables import Cell, Column, Table, TableRow

QUALITY = ("em", "f1", "accuracy")
EVIDENCE = ("passage_recall", "recall@5")


def paper_tables(results: Results) -> list[Table]:
    """Give those of the paper's tables for which there is data, in its order, then the contract's elements."""
    made = (
        longbench_table(results),
        documents_table(results),
        other_table(results),
        ablation_table(results),
        carrier_table(results),
        ablation_differences(results),
        carrier_differences(results),
        carrier_tokens(results),
        carrier_diagnostics(results),
        contract_table(results),
    )
    return [table for table in made if table is not None]


def longbench_table(results: Results) -> Table | None:
    """Table 1a: EM, F1 and RET by task, and the unweighted mean of the tasks where a method ran all three."""
    columns = [
        metric_column(metric, 1 if metric == "ret" else 4 if workload == MACRO else 3, workload, heading)
        for workload, heading in (LONGBENCH | {MACRO: "Avg."}).items()
        for metric in ("em", "f1", "ret")
    ]
    return _main_table(results, "longbench", "LongBench multi-hop QA", columns)


def documents_table(results: Results) -> Table | None:
    """Table 1b: QASPER and DocVQA."""
    qasper = (("em", 4), ("f1", 4), ("accuracy", 4), ("ret", 0))
    docvqa = (("anls", 4), ("accuracy", 4), ("ret", 2))
    columns = [metric_column(metric, decimals, QASPER, "QASPER") for metric, decimals in qasper]
    columns += [metric_column(metric, decimals, DOCVQA, "DocVQA") for metric, decimals in docvqa]
    return _main_table(results, "documents", "Long-document and visual-document QA", columns)


def other_table(results: Results) -> Table | None:
    """Table 1 of workloads that the paper does not have."""
    columns = [
        metric_column(metric, decimals, workload, workload_label(workload))
        for workload in results.workloads
        if workload not in WORKLOADS
        for metric, decimals in (("em", 4), ("f1", 4), ("accuracy", 4), ("anls", 4), ("ret", 1))
    ]
    return _main_table(results, "other-workloads", "Other workloads", columns, paper=None)


def ablation_table(results: Results) -> Table | None:
    """Table 2: StateRAG, StateRAG without one of its parts, and its ranking alone; evidence too, where it is known."""
    variants = [name for name in results.methods if is_variant(name) and base(name) not in CARRIERS | ELEMENTS]
    labels = {name: REMOVALS.get(name, name) for name in variants}
    labels |= {name: method_label(name) for name in results.methods if base(name) == FLAT_FUSION}
    labels |= {name: name.replace(STATERAG, "Full") for name in results.methods if is_staterag(name)}
    rows = [
        TableRow(
            label,
            tuple(mean_cell(results, method, workload, metric, "ablations") for metric in (*QUALITY, *EVIDENCE)),
            workload_label(workload),
            emphasised=is_staterag(method),
        )
        for workload in results.summaries(variants)
        for method, label in labels.items()
    ]
    columns = tuple(metric_column(metric, 4) for metric in (*QUALITY, *EVIDENCE))
    return finished(results, Table("ablations", "Component ablations", columns, tuple(rows), stub="Variant"))


def ablation_differences(results: Results) -> Table | None:
    """Supplement: what each removal costs, query by query, with the interval of the difference."""
    found = paired_points(results, STATERAG, [name for name in REMOVALS if name in results.methods])
    rows = [
        TableRow(
            label,
            tuple(found.get((method, workload, metric), Cell()) for metric in QUALITY),
            workload_label(workload),
        )
        for workload in results.summaries(REMOVALS)
        for method, label in REMOVALS.items()
    ]
    columns = tuple(Column(metric, f"Δ{metric_column(metric, 2).label}", 2) for metric in QUALITY)
    title = "Full minus removal, in percentage points"
    return finished(results, Table("ablation-differences", title, columns, tuple(rows), stub="Removal"))


def _main_cell(results: Results, method: str, column: Column, paper: str | None) -> Cell:
    workload, metric = column.key.rsplit(".", 1)
    return mean_cell(results, method, workload, metric, paper)


def _main_table(
    results: Results, name: str, title: str, columns: Sequence[Column], paper: str | None = ""
) -> Table | None:
    printed = name if paper == "" else paper
    rows = [
        TableRow(
            method_label(method),
            tuple(_main_cell(results, method, column, printed) for column in columns),
            emphasised=is_staterag(method),
        )
        for method in results.methods
        if not is_variant(method)
    ]
    table = finished(results, Table(name, title, tuple(columns), tuple(rows)))
    return table if table and any(column.higher_is_better for column in table.columns) else None
