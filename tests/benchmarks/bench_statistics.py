"""How long the statistics of a large run take, and how much memory: 100,000 queries, 30 metrics."""

from __future__ import annotations

import resource
import time

import numpy as np

from metrics.significance import intervals, macro_paired, mcnemar, paired, paired_all

QUERIES, METRICS, PER_CLUSTER = 100_000, 30, 5


def table(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Give metrics of three kinds, one in five of them defined for half of the queries only."""
    columns = {}
    for i in range(METRICS):
        kinds = (rng.integers(2, size=QUERIES).astype(float), rng.random(QUERIES), rng.exponential(900, QUERIES))
        values = kinds[i % 3]
        if i % 5 == 4:
            values[::2] = np.nan
        columns[f"metric-{i}"] = values
    return columns


def report(name: str, work) -> None:
    started, busy = time.perf_counter(), time.process_time()
    work()
    seconds, busy = time.perf_counter() - started, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:<42} {seconds:6.2f} s (processor {busy:5.2f} s)  peak {peak:4.0f} MB", flush=True)


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = table(rng), table(rng)
    clusters = [f"document-{i // PER_CLUSTER}" for i in range(QUERIES)]
    alone = [f"query-{i}" for i in range(QUERIES)]
    print(f"{QUERIES:,} queries, {METRICS} metrics, {PER_CLUSTER} queries a cluster where clustered")
    report("tables alone", lambda: None)
    report("intervals", lambda: intervals(a))
    report("intervals, each query a named cluster", lambda: intervals(a, alone))
    report("intervals, clustered", lambda: intervals(a, clusters))
    report("paired, all metrics", lambda: paired_all(a, b))
    report("paired, all metrics, clustered", lambda: paired_all(a, b, clusters))
    report("paired, one metric", lambda: paired(a["metric-1"], b["metric-1"]))
    report("mcnemar, clustered", lambda: mcnemar(a["metric-0"], b["metric-0"], clusters))
    tasks = [(a["metric-1"][i::5], b["metric-1"][i::5], None) for i in range(5)]
    report("macro over five tasks, paired", lambda: macro_paired(tasks))


if __name__ == "__main__":
    main()
