"""How long a query's whole memory work takes, in memory and in a file."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from programs.documents.collection import Collection, Source
from programs.memory.artifacts import Kind, MemoryScope
from programs.memory.pool import Pool
from programs.memory.store import PlanIndex
from programs.settings import MemorySettings
from programs.state import Action, Role

SOURCES = Collection(sources=(Source(source_id="s", text="Herons wade."),))


def vectors(count):
    drawn = np.random.default_rng(3).normal(size=(count, 384)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def work(pool, position, vector) -> float:
    """Open, resolve, three reads, ten offers, persist, close."""
    started = time.perf_counter()
    with pool.open(f"q{position}", position, "text", SOURCES, vector) as memory:
        planner, navigator = memory.handle(Role.PLANNER), memory.handle(Role.NAVIGATOR)
        memory.resolve()
        planner.similar_plans()
        for kind in (Kind.ABSTRACTION, Kind.TRACE_SCORE):
            navigator.recall_many(kind, [f"{position}-{i}" for i in range(16)])
        plan = {"query": "text", "objective": "find", "targets": ["a", "b"]}
        planner.offer(Kind.PLAN, f"{position}", plan, [f"q{position}"], MemoryScope.GLOBAL)
        for i in range(4):
            text = {"text": "x" * 400}
            navigator.offer(Kind.ABSTRACTION, f"{position}-{i}", text, ["s#0-9"], MemoryScope.GLOBAL)
        for i in range(5):
            navigator.offer(Kind.TRACE_SCORE, f"{position}-{i}", {"score": 0.5}, ["s#0-9"], MemoryScope.GLOBAL)
        memory.persist(Action.RELEASE)
    return 1000 * (time.perf_counter() - started)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for place, path in (("memory", None), ("file", Path(folder) / "m.sqlite")):
            with Pool("w", path, MemorySettings()) as pool:
                taken = sorted(work(pool, i, vector) for i, vector in enumerate(vectors(200)))
            print(f"a query's memory work, {place}: median {taken[100]:.2f} ms, 95th {taken[190]:.2f} ms")
    index, many, taken = PlanIndex(), vectors(10_000), []
    for i, vector in enumerate(many):
        index.put(f"p{i}", i, vector)
    for i in range(50):
        started = time.perf_counter()
        index.nearest(many[i], 0.8, 2, 10_000)
        taken.append(1000 * (time.perf_counter() - started))
    print(f"similar plans among 10,000: median {statistics.median(taken):.2f} ms")


if __name__ == "__main__":
    main()
