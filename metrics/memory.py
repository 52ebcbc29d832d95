"""Reuse through global memory: permitted reads, and those that returned something."""

from __future__ import annotations

import math

from metrics.record import QueryRecord


def memory_scores(record: QueryRecord) -> dict[str, float]:
    """Give a query's reads and hits under their metrics' names."""
    return {"memory_reads": record.memory.reads, "memory_hits": record.memory.hits}


def hit_rate(hits: float, reads: float) -> float:
    """Give hits over reads, both summed over a workload, so that every read weighs the same; NaN without a read.

    A mean of queries' own rates is another number: it would weigh a query with one read like one with twenty.
    """
    return hits / reads if reads else math.nan
