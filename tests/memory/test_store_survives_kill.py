import multiprocessing
import random
import sqlite3
import time

import numpy as np

from programs.memory.artifacts import Kind, MemoryScope, make_artifact
from programs.memory.store import SqliteStore
from programs.state import Role

SIZE = 6


def artifacts_of(position):
    for i in range(SIZE - 1):
        text = {"text": f"{position}-{i} " + "x" * 900}
        yield make_artifact(Kind.ABSTRACTION, f"{position}-{i}", text, Role.NAVIGATOR, MemoryScope.GLOBAL, "q", ["s"])
    plan = {"query": "q", "objective": f"{position}", "targets": ["t"]}
    yield make_artifact(Kind.PLAN, f"{position}", plan, Role.PLANNER, MemoryScope.GLOBAL, "q", ["q"])


def persist_until_killed(path, start, reports):
    store = SqliteStore(path, "w")
    vector = np.ones(64, dtype=np.float32) / 8
    position = start
    while True:
        store.persist(list(artifacts_of(position)), position, vector)
        reports.send(position)
        position += 1


def persists_in(path) -> dict[int, int]:
    SqliteStore(path, "w").close()
    raw = sqlite3.connect(path)
    assert raw.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    rows = dict(raw.execute("SELECT position, count(*) FROM artifacts GROUP BY position"))
    raw.close()
    return rows


def last_report(reports) -> int | None:
    last = None
    try:
        while reports.poll():
            last = reports.recv()
    except EOFError:
        pass
    return last


def test_i8_a_file_killed_at_any_instant_holds_a_prefix_of_whole_persists_and_all_that_were_reported(tmp_path):
    context, path, chance = multiprocessing.get_context("fork"), tmp_path / "m.sqlite", random.Random(11)
    start = reported = 0
    for _ in range(14):
        receiving, sending = context.Pipe(duplex=False)
        child = context.Process(target=persist_until_killed, args=(path, start, sending))
        child.start()
        sending.close()
        time.sleep(chance.uniform(0.0, 0.15))
        child.kill()
        child.join()
        last = last_report(receiving)
        reported = reported if last is None else last + 1
        held = persists_in(path)
        assert held == dict.fromkeys(range(len(held)), SIZE)
        assert reported <= len(held) <= max(reported, start) + 1
        start = len(held)
    assert start > 14, "the children were killed before they persisted anything"
