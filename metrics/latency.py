"""Latency: L = L_index + L_online, in seconds. An incomplete query keeps what it took until it ended.

Encoding that a cache spared the query counts as if it had been done: else a method would look faster only because
another one had read the same sources before it. `latency_spared` says how much of the sum that is.
"""

from __future__ import annotations

from metrics.record import QueryRecord


def latency_scores(record: QueryRecord) -> dict[str, float]:
    """Give the two parts, their sum, and what of it a cache spared, under their metrics' names."""
    taken = record.latency
    index, online = taken.index + taken.spared_index, taken.online + taken.spared_online
    return {
        "latency": index + online,
        "latency_index": index,
        "latency_online": online,
        "latency_spared": taken.spared_index + taken.spared_online,
    }
