"""A run's records against its references: the tables that statistics, summaries and reports read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import ValidationError

from metrics.metric import METRICS
from metrics.record import QueryRecord, Reference
from metrics.scores import ScoreTable, collect_tables
from programs.errors import InputError
from programs.json_file import faults
from programs.runner.folder import RunFolder


def score_tables(run: RunFolder) -> list[ScoreTable]:
    """Score a run in one pass, a table for each method in the manifest's order."""
    workload = run.manifest.questions.workload
    under_way = ""

    def told() -> Iterator[tuple[QueryRecord, Reference]]:
        nonlocal under_way
        for record, reference in pairs(run):
            under_way = f"{record.method} on {record.query_id!r}"
            yield record, reference

    try:
        tables = {table.method: table for table in collect_tables(workload, told())}
    except ValueError as error:  # what a record commits has no fixed shape before it is looked at
        what = faults(error) if isinstance(error, ValidationError) else error
        raise InputError(f"{run.path}: {under_way}: {what}; the file was changed") from error
    return [_without_answers(run, tables[entry.name]) for entry in run.manifest.methods if entry.name in tables]


def pairs(run: RunFolder) -> Iterator[tuple[QueryRecord, Reference]]:
    """Give every record with its reference; one that the manifest lacks is refused, and one that comes twice."""
    references = run.references()
    methods = {entry.name for entry in run.manifest.methods}
    seen: set[tuple[str, str]] = set()
    for record in run.records():
        key = (record.method, record.query_id)
        if record.method not in methods or record.query_id not in references:
            raise InputError(f"{run.path}: a record of {key[0]!r} on {key[1]!r}, which the manifest does not have")
        if key in seen:
            raise InputError(f"{run.path}: two records of {key[0]!r} on {key[1]!r}; the file was changed")
        seen.add(key)
        yield record, references[record.query_id]


def _without_answers(run: RunFolder, table: ScoreTable) -> ScoreTable:
    """Leave out the scores of answers that nobody was asked for."""
    entry = next(entry for entry in run.manifest.methods if entry.name == table.method)
    if not entry.answers:
        for name, metric in METRICS.items():
            if metric.group == "answer" or name == "reached_reader":
                table.values[name] = np.full(len(table), np.nan)
    return table
