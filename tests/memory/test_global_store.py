import multiprocessing
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.memory import store as store_module
from programs.memory.artifacts import Kind, MemoryScope, make_artifact
from programs.memory.store import SqliteStore
from programs.state import Role

EVER = 10**9


def abstraction(key, text="text"):
    return make_artifact(Kind.ABSTRACTION, key, {"text": text}, Role.NAVIGATOR, MemoryScope.GLOBAL, "q", ["s#0-1"])


def plan(key):
    payload = {"query": key, "objective": "o", "targets": ["t"]}
    return make_artifact(Kind.PLAN, key, payload, Role.PLANNER, MemoryScope.GLOBAL, "q", ["q"])


def found(store, *artifacts, before=EVER):
    return [
        next((one[:2] for one in store.find([a.artifact_id], before).get(a.artifact_id, [])), None) for a in artifacts
    ]


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@pytest.fixture(params=["file", "memory"])
def store(request, tmp_path):
    store = SqliteStore(tmp_path / "folder" / "m.sqlite" if request.param == "file" else None, "w")
    yield store
    store.close()


def test_d11_a_query_finds_only_what_queries_before_it_wrote(store):
    store.persist([abstraction("a")], 3, None)
    assert found(store, abstraction("a"), before=3) == [None]
    assert found(store, abstraction("a"), before=4) == [(Kind.ABSTRACTION, {"text": "text"})]


def test_a_repeated_artifact_is_stored_once_and_the_earliest_querys_stands(store):
    store.persist([abstraction("a", "fifth")], 5, None)
    store.persist([abstraction("a", "ninth")], 9, None)
    assert found(store, abstraction("a"))[0][1] == {"text": "fifth"}
    store.persist([abstraction("a", "second")], 2, None)
    assert len(store) == 1
    assert found(store, abstraction("a"), before=3)[0][1] == {"text": "second"}


def test_what_several_queries_wrote_is_found_within_bounds_as_the_earliest_there_wrote_it(store):
    for position in (7, 2, 4):
        store.persist([abstraction("a", f"of {position}"), plan("p")], position, unit(1, 0))
    for since, text in ((0, "of 2"), (2, "of 2"), (3, "of 4"), (5, "of 7")):
        earliest, *_ = store.find([abstraction("a").artifact_id], EVER, since)[abstraction("a").artifact_id]
        assert earliest.payload["text"] == text
        assert store.similar_plans(unit(1, 0), 0.9, 3, EVER, since) == [plan("p").artifact_id]
    assert store.find([abstraction("a").artifact_id], EVER, 8) == {}
    assert store.similar_plans(unit(1, 0), 0.9, 3, EVER, 8) == []
    store.rewind(4)
    assert store.find([abstraction("a").artifact_id], EVER, 3) == {}


def test_rewind_forgets_the_queries_from_a_position_on_and_their_plans(store):
    vector = unit(1, 0)
    for position in range(4):
        store.persist([abstraction(f"a{position}"), plan(f"p{position}")], position, vector)
    assert len(store.similar_plans(vector, 0.9, 10, EVER)) == 4
    store.rewind(2)
    assert len(store) == 4
    assert store.similar_plans(vector, 0.9, 10, EVER) == [plan("p0").artifact_id, plan("p1").artifact_id]
    assert found(store, abstraction("a1"), abstraction("a2"))[1] is None
    store.rewind(0)
    assert len(store) == 0
    assert store.similar_plans(vector, 0.9, 10, EVER) == []


def test_a_persist_that_fails_leaves_nothing(store, monkeypatch):
    good = store_module._row
    monkeypatch.setattr(store_module, "_row", lambda a, p, v: good(a, p, v) if a.key == "a" else (object(),) * 10)
    with pytest.raises(sqlite3.Error):
        store.persist([abstraction("a"), abstraction("b")], 0, None)
    assert len(store) == 0
    monkeypatch.undo()
    store.persist([abstraction("a")], 0, None)
    assert len(store) == 1


def test_a_file_gives_back_after_reopening_what_was_persisted(tmp_path):
    path, vector = tmp_path / "m.sqlite", unit(3, 4)
    first = SqliteStore(path, "w")
    first.persist([abstraction("a", "naïve – 水"), plan("p")], 0, vector)
    first.close()
    again = SqliteStore(path, "w")
    assert found(again, abstraction("a"))[0][1] == {"text": "naïve – 水"}
    assert again.similar_plans(vector, 1.0, 1, EVER) == [plan("p").artifact_id]
    again.close()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=80),
    st.integers(0, 5),
    st.integers(0, 4),
    st.integers(0, 7),
    st.integers(0, 7),
    st.sampled_from([-1.0, 0.0, 0.7, 0.95, 1.0]),
)
def test_similar_plans_are_those_of_a_plain_search_best_first_ties_by_position(
    plans, asked, limit, before, since, at_least
):
    """A handful of directions and positions, so that ties are common."""
    directions = np.random.default_rng(7).normal(size=(6, 16)).astype(np.float32)
    directions[1] = directions[0] + 0.3 * directions[2]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    store = SqliteStore(None, "w")
    for i, (position, direction) in enumerate(plans):
        store.persist([plan(f"p{i}")], position, directions[direction])
        if i == len(plans) // 2:
            store.similar_plans(directions[asked], at_least, limit, before, since)
    cosine = [sum(float(a) * float(b) for a, b in zip(directions[d], directions[asked], strict=True)) for d in range(6)]
    ranked = sorted(
        (-cosine[direction], position, i)
        for i, (position, direction) in enumerate(plans)
        if since <= position < before and cosine[direction] >= at_least - 1e-6
    )
    expected = [plan(f"p{i}").artifact_id for _, _, i in ranked[:limit]]
    assert store.similar_plans(directions[asked], at_least, limit, before, since) == expected
    store.close()


def test_vectors_of_another_length_are_refused_before_anything_is_written(store):
    store.persist([plan("p")], 0, unit(1, 0))
    with pytest.raises(InputError, match=r"2 dimensions.*3"):
        store.similar_plans(unit(1, 0, 0), 0.5, 1, EVER)
    with pytest.raises(InputError, match="memory file of its own"):
        store.persist([plan("p2")], 1, unit(1, 0, 0))
    assert len(store) == 1


def test_a_file_that_is_no_database_is_named_with_a_remedy_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes\n" * 100)
    with pytest.raises(InputError, match=r"notes\.txt.*move the file away"):
        SqliteStore(path, "w")
    assert path.read_text() == "these are my notes\n" * 100


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"other\.sqlite.*another program"):
        SqliteStore(path, "w")
    assert path.read_bytes() == before


def test_a_damaged_file_is_named_with_a_remedy(tmp_path):
    path = tmp_path / "m.sqlite"
    whole = SqliteStore(path, "w")
    whole.persist([abstraction(f"a{i}", "x" * 500) for i in range(200)], 0, None)
    whole.close()
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 12] = b"\xff" * (4096 * 9)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m\.sqlite.*move the file away"):
        SqliteStore(path, "w")


def test_a_truncated_file_is_named_with_a_remedy(tmp_path):
    path = tmp_path / "m.sqlite"
    whole = SqliteStore(path, "w")
    whole.persist([abstraction(f"a{i}", "x" * 500) for i in range(200)], 0, None)
    whole.close()
    path.write_bytes(path.read_bytes()[: 4096 * 5])
    with pytest.raises(InputError, match=r"m\.sqlite.*move the file away"):
        SqliteStore(path, "w")


def test_a_file_of_another_format_or_workload_is_refused(tmp_path):
    path = tmp_path / "m.sqlite"
    SqliteStore(path, "hotpotqa").close()
    with pytest.raises(InputError, match=r"hotpotqa.*musique"):
        SqliteStore(path, "musique")
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(InputError, match="format 99"):
        SqliteStore(path, "hotpotqa")


def test_a_place_where_no_file_can_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder can't be made"):
        SqliteStore(tmp_path / "file" / "m.sqlite", "w")
    with pytest.raises(InputError, match="can't be used as memory"):
        SqliteStore(tmp_path, "w")


def test_a_commit_is_flushed_to_a_write_ahead_log(tmp_path):
    store = SqliteStore(tmp_path / "m.sqlite", "w")
    assert store._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store._db.execute("PRAGMA synchronous").fetchone()[0] == 2
    store.close()


def write_many(path, start, barrier, process):
    barrier.wait(30)
    store = SqliteStore(path, "w")
    for i in range(start, start + 40):
        store.persist([abstraction(f"{process}-{i}"), plan(f"{process}-{i}")], i, unit(1, 0))
    store.close()


def test_processes_that_start_together_on_a_new_file_write_side_by_side_and_lose_nothing(tmp_path):
    context, path = multiprocessing.get_context("fork"), tmp_path / "m.sqlite"
    barrier = context.Barrier(3)
    writers = [context.Process(target=write_many, args=(path, 0, barrier, n)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    store = SqliteStore(path, "w")
    assert len(store) == 3 * 80
    store.close()


def open_together(folder, barrier):
    for i in range(25):
        barrier.wait(30)
        SqliteStore(folder / f"{i}.sqlite", "w").close()


def test_processes_can_make_the_same_file_at_the_same_instant(tmp_path):
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(4)
    openers = [context.Process(target=open_together, args=(tmp_path, barrier)) for _ in range(4)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join(60)
    assert [opener.exitcode for opener in openers] == [0, 0, 0, 0]


def test_plans_that_another_process_writes_are_found(tmp_path):
    context, path = multiprocessing.get_context("fork"), tmp_path / "m.sqlite"
    reader = SqliteStore(path, "w")
    reader.persist([plan("mine")], 0, unit(1, 0))
    assert len(reader.similar_plans(unit(1, 0), 0.9, 100, EVER)) == 1
    writer = context.Process(target=write_many, args=(path, 1, context.Barrier(1), 0))
    writer.start()
    writer.join(60)
    assert len(reader.similar_plans(unit(1, 0), 0.9, 100, EVER)) == 41
    reader.close()


def test_a_writer_that_waits_too_long_says_who_is_in_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0.05)
    path = tmp_path / "m.sqlite"
    store = SqliteStore(path, "w")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match=r"m\.sqlite: another process"):
        store.persist([abstraction("a")], 0, None)
    holder.execute("ROLLBACK")
    holder.close()
    store.persist([abstraction("a")], 0, None)
    assert len(store) == 1
    store.close()
