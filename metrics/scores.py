"""Every metric of a query, and the table of a whole run's queries that statistics and reports read."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metrics.answers import answer_scores
from metrics.diagnostics import diagnostic_scores, rejection_reasons
from metrics.evidence import (
    admitted_sources,
    answer_in_evidence,
    passage_found,
    passage_recall,
    recall_at,
    source_recall,
    title_mention,
    title_recall,
)
from metrics.latency import latency_scores
from metrics.memory import hit_rate, memory_scores
from metrics.metric import METRICS, RECALL_DEPTHS, Metric
from metrics.record import QueryRecord, Reason, Reference, SupportStatus
from metrics.tokens import token_scores
from metrics.work import WorkColumns, WorkSpent, WorkStep

__all__ = ["METRICS", "Metric", "ScoreTable", "collect_tables", "score"]


def score(record: QueryRecord, reference: Reference | None) -> dict[str, float]:
    """Give every metric that is defined for this query; one that is not has no key.

    An incomplete query is scored as if it had neither answer nor evidence, whatever its record holds.
    """
    scores = {} if reference is None else quality_scores(record, reference)
    return scores | token_scores(record) | latency_scores(record) | memory_scores(record) | diagnostic_scores(record)


def quality_scores(record: QueryRecord, reference: Reference) -> dict[str, float]:
    """Give the metrics of the answer and of the evidence, as far as the reference says what they should be."""
    complete = record.is_complete
    evidence = record.evidence if complete else []
    scores: dict[str, float] = {}
    if answers := reference.answers:
        scores |= answer_scores(record.answer if complete else "", answers)
        scores["answer_in_evidence"] = answer_in_evidence(evidence, answers)
    if record.support is not None:
        found = record.support.status is not SupportStatus.NOT_FOUND
        scores["told_right"] = float(found == reference.answerable)
    if passages := reference.passages:
        scores["title_recall"] = title_recall(evidence, passages)
        scores["passage_found"] = passage_found(evidence, passages)
        scores["passage_recall"] = passage_recall(evidence, passages)
        scores["title_mention"] = title_mention(evidence, passages)
    if supporting := reference.supporting:
        sources = admitted_sources(evidence)
        scores["source_recall"] = source_recall(sources, supporting)
        scores |= {f"recall@{k}": recall_at(sources, supporting, k) for k in RECALL_DEPTHS}
    return scores


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The scores of one method on one workload: a row a query, in the order in which the records came."""

    method: str
    workload: str
    query_ids: list[str]
    positions: list[int]
    clusters: list[str]
    """What queries on one source have in common. A query that stands alone has a cluster of its own."""
    question_types: list[str | None]
    rejections: list[tuple[Reason, ...]]
    """The reasons of each query's rejections."""
    values: dict[str, NDArray[np.float64]]
    """A column for every one of `METRICS`, NaN where the metric is not defined for the query."""
    work: Mapping[WorkStep, WorkSpent] = field(default_factory=dict)
    """What each role spent on calls, in each phase."""

    @classmethod
    def collect(cls, method: str, workload: str, pairs: Iterable[tuple[QueryRecord, Reference | None]]) -> ScoreTable:
        """Score one method's records as they come. None is kept, so a run of any length fits in memory."""
        rows = _Rows()
        for record, reference in pairs:
            rows.add(record, reference)
        return rows.table(method, workload)

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    def defined(self) -> tuple[str, ...]:
        """The metrics that some query has, in the order of `METRICS`."""
        return tuple(name for name, column in self.values.items() if not np.isnan(column).all())

    def mean(self, metric: str) -> float:
        """Average a metric over the queries that it is defined for, incomplete ones among them; NaN without any."""
        column = self.values[metric]
        known = column[~np.isnan(column)]
        return float(known.mean()) if known.size else math.nan

    def hit_rate(self) -> float:
        """Give the access-weighted hit rate of global memory; NaN where it was never read."""
        return hit_rate(float(self.values["memory_hits"].sum()), float(self.values["memory_reads"].sum()))

    def rejections_by_reason(self) -> Counter[str]:
        """Count the run's rejections by their reason."""
        return Counter(reason for reasons in self.rejections for reason in reasons)

    def only(self, question_type: str | None) -> ScoreTable:
        """Keep the queries of one type."""
        rows = [i for i, kind in enumerate(self.question_types) if kind == question_type]
        return ScoreTable(
            method=self.method,
            workload=self.workload,
            query_ids=[self.query_ids[i] for i in rows],
            positions=[self.positions[i] for i in rows],
            clusters=[self.clusters[i] for i in rows],
            question_types=[self.question_types[i] for i in rows],
            rejections=[self.rejections[i] for i in rows],
            values={name: column[rows] for name, column in self.values.items()},
            work={step: spent.of(rows) for step, spent in self.work.items()},
        )


def collect_tables(workload: str, pairs: Iterable[tuple[QueryRecord, Reference | None]]) -> list[ScoreTable]:
    """Score the records of several methods in one pass: a table for each, in the order in which they first come."""
    rows: dict[str, _Rows] = {}
    for record, reference in pairs:
        rows.setdefault(record.method, _Rows()).add(record, reference)
    return [found.table(method, workload) for method, found in rows.items()]


class _Rows:
    """A table while its records come in: numbers alone, a column a metric."""

    def __init__(self) -> None:
        self.query_ids: dict[str, None] = {}
        self.positions: list[int] = []
        self.clusters: list[str] = []
        self.question_types: list[str | None] = []
        self.rejections: list[tuple[Reason, ...]] = []
        self.columns = {name: array("d") for name in METRICS}
        self.work = WorkColumns()

    def add(self, record: QueryRecord, reference: Reference | None) -> None:
        """Score a query and forget its record."""
        query_id = record.query_id
        if query_id in self.query_ids:
            raise ValueError(f"query {query_id!r} comes twice; a table counts each query once")
        if reference is not None and reference.query_id != query_id:
            raise ValueError(f"query {query_id!r} came with the reference of {reference.query_id!r}")
        cluster = None if reference is None else reference.cluster
        self.query_ids[query_id] = None
        self.positions.append(record.position)
        self.clusters.append(f"query:{query_id}" if cluster is None else cluster)
        self.question_types.append(None if reference is None else reference.question_type)
        self.rejections.append(rejection_reasons(record))
        self.work.add(record)
        scores = score(record, reference)
        for name, column in self.columns.items():
            column.append(scores.get(name, math.nan))

    def table(self, method: str, workload: str) -> ScoreTable:
        """Close the table.

        RET is a method's only if it is known of each query: where a size is not, those that needed no other model than
        the reader would be left, and they are the cheapest.
        """
        values = {name: np.array(column) for name, column in self.columns.items()}
        if np.isnan(values["ret"]).any():
            values["ret"][:] = math.nan
        return ScoreTable(
            method=method,
            workload=workload,
            query_ids=list(self.query_ids),
            positions=self.positions,
            clusters=self.clusters,
            question_types=self.question_types,
            rejections=self.rejections,
            values=values,
            work=self.work.spent(),
        )
