"""What a method with given settings is worth on development questions: its records, their scores and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from metrics.bootstrap import Array
from metrics.macros import macro_intervals
from metrics.record import QueryRecord
from metrics.scores import score
from metrics.significance import Interval, Paired, macro_interval, macro_paired
from optimize.development import workload_of
from optimize.shared_indexes import SharedIndexes
from programs.errors import StateRAGError
from programs.methods.base import Program
from programs.methods.indexes import Indexes
from programs.models.encoders.encoder import Encoder
from programs.models.runtime import Runtime
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings
from programs.workloads.query import Example

MACRO = "macro"
"""What stands for all workloads together: the mean of their means."""

READ = ("ret", "tokens_reader")
"""Metrics that count what the reader reads."""

ENGINE_FAULTS = ("LMTransportError", "RequestRefused")
"""Errors of the engine and not of the method: nothing may be chosen by them."""

Task = tuple[Array, list[str]]
"""A workload's values, one a question, and what each question stands and falls with."""

Listener = Callable[[int, int], None]
"""Told how many questions are done of how many."""


class EngineFault(StateRAGError):
    """The model can't be used, so what was measured says nothing. Completions that were kept stay kept."""


@dataclass(frozen=True)
class Measured:
    """A method's records of some questions, in their order, and what they are worth."""

    examples: tuple[Example, ...]
    records: tuple[QueryRecord, ...]
    scores: tuple[dict[str, float], ...]
    unread: tuple[int, ...]
    """Encoder tokens of the evidence that was admitted and that no reader was asked to read; 0 where one was."""

    @property
    def workloads(self) -> tuple[str, ...]:
        """The workloads of the questions, in their order."""
        return tuple(dict.fromkeys(map(workload_of, self.examples)))

    def values(self, metric: str) -> Array:
        """Give one number a question, NaN where the metric is not defined for it.

        Where no reader was asked, its metrics count the admitted evidence as what the reader would have read: without
        that, a method would cost less the less it saves the reader.
        """
        extra = self.unread if metric in READ else (0,) * len(self.scores)
        rows = zip(self.scores, extra, strict=True)
        return np.array([scores.get(metric, math.nan) + more for scores, more in rows], dtype=np.float64)

    def mean(self, metric: str, workload: str = MACRO) -> float:
        """Give the mean over a workload's questions, or over the workloads' means; NaN where it is not defined."""
        return mean_of(self._tasks(metric, workload))

    def interval(self, metric: str, workload: str = MACRO) -> Interval:
        """Give the same with its bootstrap interval."""
        return macro_interval(self._tasks(metric, workload))

    def intervals(self, metrics: Iterable[str], workload: str = MACRO) -> dict[str, Interval]:
        """Give the same for many metrics, as far as they are defined; those of the same questions share the draws."""
        parts = {metric: self._tasks(metric, workload) for metric in metrics}
        alike: dict[tuple[bool, ...], list[str]] = {}
        for metric, tasks in parts.items():
            alike.setdefault(tuple(not np.isnan(values).all() for values, _ in tasks), []).append(metric)
        found: dict[str, Interval] = {}
        for defined, names in alike.items():
            rows = list(compress(zip(*(parts[name] for name in names), strict=True), defined))
            columns = [({n: task[0] for n, task in zip(names, row, strict=True)}, row[0][1]) for row in rows]
            found |= macro_intervals(columns) if columns else {}
        return found

    def against(self, other: Measured, metric: str, level: float = 0.95) -> Paired:
        """Compare with another measurement of the same questions: this one's mean less the other's, over workloads."""
        theirs = other._tasks(metric, MACRO)
        pairs = zip(self._tasks(metric, MACRO), theirs, strict=True)
        return macro_paired([(ours, there, clusters) for (ours, clusters), (there, _) in pairs], level=level)

    def joined(self, other: Measured) -> Measured:
        """Put two measurements of different questions together, in the questions' order."""
        rows = [*_rows(self), *_rows(other)]
        rows.sort(key=lambda row: row[0].query.position)
        return Measured(*(tuple(column) for column in zip(*rows, strict=True)))

    def _tasks(self, metric: str, workload: str) -> list[Task]:
        found = tasks_of(self.examples, self.values(metric))
        return list(found.values()) if workload == MACRO else [found[workload]]


def measure(
    configured: ConfiguredMethod,
    runtime: Runtime,
    examples: Sequence[Example],
    *,
    workers: int = 1,
    listener: Listener = lambda done, total: None,
    indexes: Indexes | None = None,
) -> Measured:
    """Run a method on questions, `workers` at a time, and score each record.

    Global memory is cleared for each query, whatever the settings say: a choice must not hang on the questions'
    order. `indexes` are what a search shares between its trials.
    """
    alone = replace(configured, settings=_without_global_memory(configured))
    held = indexes or SharedIndexes(examples).trial(alone)
    programs = {name: alone.open(runtime, name, held) for name in dict.fromkeys(workload_of(one) for one in examples)}
    records: list[QueryRecord] = []
    listener(0, len(examples))
    try:
        for record in _run(programs, examples, workers):
            _refuse_engine_faults(record)
            records.append(record)
            listener(len(records), len(examples))
    finally:
        for program in programs.values():
            program.close()
    read = alone.settings.lifecycle.answer
    return Measured(
        examples=tuple(examples),
        records=tuple(records),
        scores=tuple(score(record, example.reference) for record, example in zip(records, examples, strict=True)),
        unread=tuple(0 if read else evidence_tokens(record, runtime.encoder) for record in records),
    )


def evidence_tokens(record: QueryRecord, encoder: Encoder) -> int:
    """Count a record's evidence in encoder tokens, as the reader's budget does."""
    return sum(len(encoder.spans(evidence.text)) for evidence in record.evidence)


def tasks_of(examples: Sequence[Example], values: Array) -> dict[str, Task]:
    """Part values, one an example, by workload."""
    rows: dict[str, list[int]] = {}
    for at, example in enumerate(examples):
        rows.setdefault(workload_of(example), []).append(at)
    return {name: (values[some], [cluster_of(examples[at]) for at in some]) for name, some in rows.items()}


def mean_of(tasks: Iterable[Task]) -> float:
    """Give the mean of the workloads' means; one without a value is left out, and NaN is left where none has any."""
    columns = [values[~np.isnan(values)] for values, _ in tasks]
    means = [float(values.mean()) for values in columns if values.size]
    return math.fsum(means) / len(means) if means else math.nan


def cluster_of(example: Example) -> str:
    """Name what a question stands and falls with, itself if nothing else."""
    cluster = example.reference.cluster
    return f"query:{example.query.position}" if cluster is None else cluster


def _run(programs: dict[str, Program], examples: Sequence[Example], workers: int) -> Iterator[QueryRecord]:
    """Give the records in the questions' order."""
    if workers == 1:
        for example in examples:
            yield programs[workload_of(example)].run(example.query)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="measure") as pool:
        runs = [(programs[workload_of(example)].run, example.query) for example in examples]
        futures = [pool.submit(copy_context().run, run, query) for run, query in runs]
        try:
            for future in futures:
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _without_global_memory(configured: ConfiguredMethod) -> Settings:
    memory = configured.settings.memory.model_copy(update={"keep_global": False})
    return configured.settings.model_copy(update={"memory": memory})


def _refuse_engine_faults(record: QueryRecord) -> None:
    if not record.is_complete and (record.error or "").startswith(ENGINE_FAULTS):
        raise EngineFault(
            f"the model could not be used ({record.error}); what was answered is kept: mend it, then run the same "
            "command again"
        )


def _rows(measured: Measured) -> list[tuple[Example, QueryRecord, dict[str, float], int]]:
    return list(zip(measured.examples, measured.records, measured.scores, measured.unread, strict=True))
