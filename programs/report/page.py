"""Tables in a page of text, each between marks that say what it shows, so that no figure there is typed by hand.

    <!-- table evidence: passage_recall, title_mention less staterag -->
    <!-- end of evidence -->

`report RUN … --into PAGE --table evidence` writes what belongs between them. After `less` stands a method with which
the others are compared in the first metric.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from programs.atomic import replacing
from programs.errors import InputError
from programs.report.cells import finished, mean_cell, metric_column
from programs.report.comparison import compare
from programs.report.names import is_staterag, method_label, workload_label
from programs.report.results import Results
from programs.report.table_formats import markdown
from programs.report.tables import INTERVALS, Cell, Column, Table, TableRow

MARKS = re.compile(
    r"(?P<begin><!-- table (?P<name>[\w-]+): (?P<asked>[^\n]*?) -->\n)(?P<old>.*?)(?P<end><!-- end of (?P=name) -->)",
    re.DOTALL,
)
LESS = "less"


def write_into(page: Path, name: str, make: Callable[[str], Table]) -> None:
    """Write a table between the marks of its name; `make` is given what the mark asks for."""
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{page}: can't be read ({error.strerror}); name a page of text with marks") from error
    found = {match["name"]: match for match in MARKS.finditer(text)}
    if name not in found:
        known = ", ".join(found) or "none"
        raise InputError(
            f"{page}: there is no table {name!r}, but {known}; mark its place by the lines "
            f"<!-- table {name}: passage_recall --> and <!-- end of {name} -->"
        )
    match = found[name]
    written = markdown(make(match["asked"]), INTERVALS)
    with replacing(page) as file:
        file.write((text[: match.start("old")] + f"\n{written}\n" + text[match.start("end") :]).encode())


def asked_table(scored: Sequence[ScoreTable], name: str, asked: str) -> Table:
    """Tabulate the metrics that a mark asks for: a row a method, a column a workload, and the difference last."""
    listed, _, reference = asked.partition(f" {LESS} ")
    metrics = metrics_asked(name, listed)
    results = Results(scored)
    columns = [
        metric_column(metric, decimals_of(metric), workload, workload_label(workload))
        for metric in metrics
        for workload in results.with_macro
    ]
    differences = _differences(scored, metrics[0], reference)
    if differences:
        columns.append(Column(LESS, f"{METRICS[metrics[0]].label} less {method_label(reference)}", 3))
    rows = [
        TableRow(
            method_label(method),
            (
                *(mean_cell(results, method, *column.key.rsplit(".", 1)) for column in columns if column.key != LESS),
                *([differences.get(method, Cell())] if differences else []),
            ),
            emphasised=is_staterag(method),
        )
        for method in results.methods
    ]
    title = ", ".join(METRICS[metric].label for metric in metrics)
    table = finished(results, Table(name, title, tuple(columns), tuple(rows)))
    if table is None:
        raise InputError(f"these runs have no value of {listed}; give runs that have")
    return table


def metrics_asked(name: str, listed: str) -> list[str]:
    """Read the metrics of a mark."""
    metrics = [metric.strip() for metric in listed.split(",")]
    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown:
        raise InputError(f"the mark of {name!r} asks for {unknown[0]!r}; there are the metrics {', '.join(METRICS)}")
    return metrics


def _differences(scored: Sequence[ScoreTable], metric: str, reference: str) -> dict[str, Cell]:
    """Compare every method with the reference, over all tasks where the mean over them is known."""
    if not reference:
        return {}
    found = {each.system: each for each in compare(scored, reference=reference, metrics=[metric])}
    return {name: Cell(one.paired.difference, one.paired.low, one.paired.high) for name, one in found.items()}


def decimals_of(metric: str) -> int:
    """Give the decimals that a metric is printed with."""
    return 0 if METRICS[metric].kind == "amount" else 3
