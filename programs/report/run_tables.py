"""What the paper does not tabulate: evidence, tokens, latency, memory and diagnostics of every method that ran."""

from __future__ import annotations

import math
from collections.abc import Mapping

from metrics.record import Phase
from metrics.work import PARTS, WorkStep
from programs.report.cells import DIAGNOSTICS, Diagnostic, diagnostic_cell, finished, mean_cell, metric_column
from programs.report.names import base, is_staterag, method_label, workload_label
from programs.report.paper_tables import paper_tables
from programs.report.published import published
from programs.report.results import Results
from programs.report.tables import Cell, Column, Table, TableRow

EVIDENCE = ("passage_found", "title_recall", "passage_recall", "title_mention", "answer_in_evidence", "source_recall")
CORPUS = ("recall@1", "recall@2", "recall@5", "recall@10")
ANSWERS = ("em", "f1", "accuracy", "anls", "anls_standard")
TOKENS = ("tokens_reader", "tokens_aux", "tokens_index", "ret", "encoder_tokens")
LATENCY = ("latency_index", "latency_online", "latency", "latency_spared")
PHASES = {Phase.INDEX: "index", Phase.AUX: "auxiliary", Phase.READER: "reader"}
MORE_DIAGNOSTICS = (
    *DIAGNOSTICS,
    Diagnostic("cut_completions", "Cut completions"),
    Diagnostic("rejections", "Rejections"),
    Diagnostic("transport_retries", "Transport retries"),
    Diagnostic("evidence_records", "Evidence records per query", 2, is_mean=True),
)


def all_tables(results: Results) -> list[Table]:
    """Give every table for which there is data, the paper's first."""
    return [*paper_tables(results), *run_tables(results)]


def run_tables(results: Results) -> list[Table]:
    """Give the tables beyond the paper's."""
    made = (
        mean_table(results, "answers", "Answer quality", dict.fromkeys(ANSWERS, 3)),
        mean_table(results, "evidence", "Evidence recall", dict.fromkeys(EVIDENCE, 3)),
        mean_table(results, "corpus", "Recall of supporting sources among the first k", dict.fromkeys(CORPUS, 3)),
        token_table(results),
        mean_table(results, "latency", "Seconds per query", dict.fromkeys(LATENCY, 2)),
        memory_table(results),
        work_table(results),
        diagnostics_table(results),
    )
    return [table for table in made if table is not None]


def mean_table(results: Results, name: str, title: str, metrics: Mapping[str, int]) -> Table | None:
    """Tabulate means of some metrics, with their decimals, for every method by workload."""
    rows = [
        TableRow(
            method_label(method),
            tuple(mean_cell(results, method, workload, metric) for metric in metrics),
            workload_label(workload),
            emphasised=is_staterag(method),
        )
        for workload in results.with_macro
        for method in results.methods
    ]
    columns = tuple(metric_column(metric, decimals) for metric, decimals in metrics.items())
    return finished(results, Table(name, title, columns, tuple(rows)))


def token_table(results: Results) -> Table | None:
    """Tabulate tokens and RET, with what the paper prints for index construction."""
    rows = [
        TableRow(
            method_label(method),
            tuple(mean_cell(results, method, workload, metric, "index-tokens") for metric in TOKENS),
            workload_label(workload),
            emphasised=is_staterag(method),
        )
        for workload in results.with_macro
        for method in results.methods
    ]
    notes = (
        "RET weighs each call by its model's parameters over the reader's: 1 where one model does all, and the paper's "
        "nominal 8/14 for its own pair.",
        "Encoder tokens are in no RET.",
    )
    columns = tuple(metric_column(metric, 1) for metric in TOKENS)
    return finished(results, Table("tokens", "Tokens per query", columns, tuple(rows), notes=notes))


def memory_table(results: Results) -> Table | None:
    """Tabulate reads of global memory, those that returned something, and their ratio."""
    rows = [
        TableRow(method_label(method), _memory_cells(results, method, workload), workload_label(workload))
        for workload in results.with_macro
        for method in results.methods
        if _reads(results, method, workload)
    ]
    labels = (("memory_reads", "Reads", 0), ("memory_hits", "Hits", 0), ("hit_rate", "Hit rate (%)", 2))
    columns = tuple(Column(key, label, decimals) for key, label, decimals in labels)
    notes = ("A hit rate is hits over reads; LongBench's is the unweighted mean of its tasks' rates.",)
    return finished(results, Table("memory", "Global memory", columns, tuple(rows), notes=notes))


def work_table(results: Results) -> Table | None:
    """Tabulate what each role spent on calls in each phase: where a method's tokens and seconds go."""
    rows = [
        TableRow(
            f"{method_label(method)}: {step.role} ({PHASES[step.phase]})",
            _work_cells(results, method, workload, step),
            workload_label(workload),
        )
        for workload in results.with_macro
        for method in results.methods
        for step in _steps(results, method, workload)
    ]
    labels = (("calls", "Calls per query", 2), ("tokens", "Tokens per query", 1), ("seconds", "Seconds per query", 2))
    columns = tuple(Column(key, label, decimals) for key, label, decimals in labels)
    notes = ("Means over all queries, those too in which a role was not asked. Seconds are those of its calls alone.",)
    return finished(results, Table("work", "Calls by role and phase", columns, tuple(rows), "Method: role", notes))


def diagnostics_table(results: Results) -> Table | None:
    """Tabulate how the queries of every method ran. Counts are over all queries."""
    rows = [
        TableRow(
            method_label(method),
            tuple(diagnostic_cell([table], each) for each in MORE_DIAGNOSTICS),
            workload_label(workload),
            emphasised=is_staterag(method),
        )
        for workload in results.workloads
        for method in results.methods
        if (table := results.table(method, workload)) is not None
    ]
    columns = tuple(Column(each.metric, each.label, each.decimals) for each in MORE_DIAGNOSTICS)
    return finished(results, Table("diagnostics", "Execution diagnostics", columns, tuple(rows)))


def _reads(results: Results, method: str, workload: str) -> float:
    return sum(float(table.values["memory_reads"].sum()) for table in results.parts(method, workload))


def _steps(results: Results, method: str, workload: str) -> list[WorkStep]:
    """Name a method's steps, what builds the index first and the reader last."""
    return list(dict.fromkeys(step for table in results.parts(method, workload) for step in table.work))


def _work_cells(results: Results, method: str, workload: str, step: WorkStep) -> tuple[Cell, ...]:
    parts = results.parts(method, workload)
    n = sum(map(len, parts))
    means = [[float(getattr(table.work[step], part).mean()) for table in parts if step in table.work] for part in PARTS]
    return tuple(Cell(math.fsum(mean) / len(parts), n=n) for mean in means)


def hit_rate_cell(results: Results, method: str, workload: str) -> Cell:
    """Give the share of permitted reads that returned something, in percent; no number where nothing was read."""
    parts = results.parts(method, workload)
    if not _reads(results, method, workload):
        return Cell()
    rate = 100 * math.fsum(table.hit_rate() for table in parts) / len(parts)
    printed = published().value("hit-rates", base(method), f"{workload}.hit_rate")
    return Cell(rate, n=sum(map(len, parts)), published=printed)


def _memory_cells(results: Results, method: str, workload: str) -> tuple[Cell, ...]:
    parts = results.parts(method, workload)
    n = sum(map(len, parts))
    hits = sum(float(table.values["memory_hits"].sum()) for table in parts)
    reads = Cell(_reads(results, method, workload), n=n)
    return reads, Cell(hits, n=n), hit_rate_cell(results, method, workload)
