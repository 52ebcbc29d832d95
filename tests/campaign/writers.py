"""Two processes that write the same thing at once: a run refuses the second in a line, a store serves both."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import cycle
from pathlib import Path

import numpy as np

from programs.memory.artifacts import Kind, MemoryScope, make_artifact
from programs.memory.store import SqliteStore
from programs.models.cache.content_store import ContentStore
from programs.state import Role
from tests.campaign.figures import Figures, measured
from tests.campaign.victims import TURNED_AWAY, VICTIMS
from tests.campaign.whole_runs import Unbroken, check_end, ended, processes, run_unbroken, start

WRITES = 30
WRITERS = 2


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Have two write so many times: a run's folder, a memory and a cache in turn."""
    draw = random.Random(seed)
    with measured("writers", seed, "pairs of writers") as figures:
        unbroken = cycle([run_unbroken(name, folder / "unbroken" / str(i)) for i, name in enumerate(VICTIMS)])
        for number in range(count):
            place = folder / str(number)
            place.mkdir()
            kind = ("a run", "a memory", "a cache")[number % 3]
            if kind == "a run":
                write_one_run(next(unbroken), place, draw, figures)
            else:
                write_one_store(kind, place, figures)
            figures.count += 1
            figures.kinds[kind] += 1
            shutil.rmtree(place)
    return figures


def write_one_run(expected: Unbroken, place: Path, draw: random.Random, figures: Figures) -> None:
    first = start(expected, place)
    first.join(draw.uniform(0, 0.5 * expected.seconds))
    codes = [ended(child, expected.name, figures) for child in (first, start(expected, place))]
    figures.expect(set(codes) <= {0, TURNED_AWAY}, f"{expected.name}: two writers ended with the codes {codes}")
    figures.expect(0 in codes, f"{expected.name}: two writers, and neither could write")
    calls = Counter((place / "calls").read_text().splitlines())
    figures.expect(calls == expected.calls, f"{expected.name}: two writers made other calls than one")
    check_end(place / "run", expected, figures)


def write_one_store(kind: str, place: Path, figures: Figures) -> None:
    file = place / "store.sqlite"
    write = write_memory if kind == "a memory" else write_cache
    children = [processes.Process(target=write, args=(str(file), number)) for number in range(WRITERS)]
    for child in children:
        child.start()
    codes = [ended(child, kind, figures) for child in children]
    figures.expect(codes == [0] * WRITERS, f"{kind}: two writers ended with the codes {codes}")
    with closing(sqlite3.connect(file)) as raw:
        whole = raw.execute("PRAGMA integrity_check").fetchone()[0]
    figures.expect(whole == "ok", f"{kind}: {whole}")
    figures.expect(held(kind, file) == WRITERS * WRITES, f"{kind}: not all that was written is there")


def held(kind: str, file: Path) -> int:
    if kind == "a memory":
        with closing(SqliteStore(file, "w")) as memory:
            return len(memory)
    with closing(ContentStore(file)) as cache:
        return len(cache.get([name(writer, i) for writer in range(WRITERS) for i in range(WRITES)]))


def write_memory(file: str, writer: int) -> None:
    with closing(SqliteStore(Path(file), "w")) as memory:
        for i in range(WRITES):
            plan = {"query": "q", "objective": f"{writer}-{i}", "targets": ["t"]}
            artifact = make_artifact(Kind.PLAN, str(plan), plan, Role.PLANNER, MemoryScope.GLOBAL, "q", ["q"])
            memory.persist([artifact], writer * WRITES + i, np.ones(8, dtype=np.float32) / 8**0.5)


def write_cache(file: str, writer: int) -> None:
    with closing(ContentStore(Path(file))) as cache:
        for i in range(WRITES):
            cache.put({name(writer, i): b"x" * 1000})


def name(writer: int, i: int) -> bytes:
    return f"{writer}-{i}".encode()
