"""Latency: L = L_index + L_online, in seconds. An incomplete query keeps what it took until it ended.

Encoding that a cache spared the query counts as if it had been done: else a method would look faster only because
another one had read the same sources before it. `latency_spared` says how much of the sum that is.
"""

from __future__ import annotations

from metrics.record import Record


def latency_scores(record: Record) -> dict[str, float]:
    """Give the two parts, their sum, and what of it a cache spared, under their metrics' names."""
    taken = record["latency"]
    spared_index, spared_online = taken.get("spared_index", 0.0), taken.get("spared_online", 0.0)
    index, online = taken["index"] + spared_index, taken["online"] + spared_online
    return {
        "latency": index + online,
        "latency_index": index,
        "latency_online": online,
        "latency_spared": spared_index + spared_online,
    }
