"""Latency: L = L_index + L_online, in seconds. An incomplete query keeps what it took until it ended."""

from __future__ import annotations

from metrics.record import Record


def latency_scores(record: Record) -> dict[str, float]:
    """Give the two parts and their sum under their metrics' names."""
    index, online = record["latency"]["index"], record["latency"]["online"]
    return {"latency": index + online, "latency_index": index, "latency_online": online}
