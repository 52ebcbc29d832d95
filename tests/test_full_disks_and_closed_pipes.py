"""What is written when nobody reads on, or when the disk takes no more: a line at most, and nothing half."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from programs.atomic import CantWrite, LineFile, is_full, replacing
from programs.memory.store import SqliteStore
from programs.methods.indexes import Indexes, read_parts, write_parts
from programs.methods.segments import SegmentCodec, SegmentIndex
from programs.models.cache.journal import Journal
from programs.models.cache.vectors import CachedEncoder
from tests.support.full_disk import no_file_beyond
from tests.support.questions import write_own_questions
from tests.support.runs import records_of
from tests.support.scripted import HashedEncoder
from tests.support.worlds import make_collection

ROOT = Path(__file__).parent.parent
NOISE = ("Traceback", "Exception ignored")


def command_line(*arguments, most=None, **streams):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.scripted_command_line", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'programs/api'}"},
        preexec_fn=None if most is None else limit,
        text=True,
        timeout=300,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams,
    )
    assert not any(noise in (ended.stderr or "") for noise in NOISE), ended.stderr
    return ended


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for source in make_collection().sources:
        (folder / source.source_id).write_bytes(source.text.encode())
    return folder


@pytest.fixture
def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize("shown", [["--json"], ["--states", "--full"]], ids=["json", "text"])
def test_a_pipe_that_nobody_reads_ends_the_program_quietly(notes, closed_pipe, shown):
    ended = command_line("ask", "Which dome?", "--docs", notes, "--preset", "tiny", *shown, stdout=closed_pipe)
    assert ended.returncode == 141
    assert "error" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("shown", [["--json"], ["--states"]], ids=["json", "text"])
def test_a_full_disk_behind_stdout_is_one_line(notes, shown):
    with open("/dev/full", "w") as full:
        ended = command_line("ask", "Which dome?", "--docs", notes, "--preset", "tiny", *shown, stdout=full)
    assert ended.returncode == 2
    said = [line for line in ended.stderr.splitlines() if line.startswith("error")]
    assert said == ["error: standard output can't be written: No space left on device; make room and run it again"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_warnings_that_can_not_be_shown_do_not_cost_the_answer(notes):
    (notes / "scan.pdf").write_bytes(b"%PDF")
    with open("/dev/full", "w") as full:
        ended = command_line("ask", "Which dome?", "--docs", notes, "--preset", "tiny", "--json", stderr=full)
    assert json.loads(ended.stdout)["question"] == "Which dome?"


def test_a_run_that_filled_its_disk_keeps_whole_records_and_goes_on_to_the_same_ones(tmp_path):
    rows = [(f"Which dome holds lens {i}?", "the dome") for i in range(6)]
    common = ("eval", "--preset", "tiny", "--workload", "own", "--method", "vanilla")
    common = (*common, "--questions", write_own_questions(tmp_path, rows))
    assert command_line(*common, "--out", tmp_path / "whole").returncode == 0
    lines = (tmp_path / "whole/records.jsonl").read_bytes().splitlines(keepends=True)
    most = max(len(b"".join(lines[:3])) + 40, (tmp_path / "whole/manifest.json").stat().st_size + 1)
    stopped = command_line(*common, "--out", tmp_path / "full", most=most)
    assert stopped.returncode == 2
    (said,) = [line for line in stopped.stderr.splitlines() if line.startswith("error")]
    assert "jsonl: can't be written: File too large" in said
    assert "--resume" in said
    kept = (tmp_path / "full/records.jsonl").read_bytes()
    assert kept.endswith(b"\n")
    assert 0 < kept.count(b"\n") < 6
    assert command_line(*common, "--out", tmp_path / "full", "--resume").returncode == 0
    assert records_of(tmp_path / "full") == records_of(tmp_path / "whole")


def test_a_line_that_does_not_fit_leaves_the_lines_before_it(tmp_path):
    path = tmp_path / "lines.jsonl"
    file = LineFile(path)
    file.add(b"one line\n")
    with no_file_beyond(12), pytest.raises(CantWrite, match=r"lines\.jsonl: can't be written: File too large"):
        file.add(b"another line\n")
    file.add(b"a third\n")
    file.close()
    assert path.read_bytes() == b"one line\na third\n"


def test_a_file_that_can_not_be_replaced_stays_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "summary.json"
    path.write_bytes(b"old")
    with no_file_beyond(12), pytest.raises(CantWrite, match=r"summary\.json"), replacing(path) as file:
        file.write(b"x" * 100_000)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("summary.json", b"old")]


def test_a_journal_that_can_not_be_taken_up_keeps_its_calls(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, ())
    journal.add("key", "q", {"seconds": 1.0, "made": {"text": "x" * 100}})
    journal.close()
    before = path.read_bytes()
    with no_file_beyond(10), pytest.raises(CantWrite, match=r"journal\.jsonl"):
        Journal(path, ())
    assert path.read_bytes() == before
    assert Journal(path, ()).take("key") is not None


def test_an_index_that_does_not_fit_is_one_line_and_leaves_no_draft(tmp_path):
    collection = make_collection()
    index = SegmentIndex((), np.zeros((100, 64), np.float32))
    indexes = Indexes(tmp_path / "indexes", {collection.digest})
    with no_file_beyond(100), pytest.raises(CantWrite, match="draft-"):
        indexes.get(collection.digest, 0, lambda: index, SegmentCodec(collection))
    assert list((tmp_path / "indexes").iterdir()) == []


def test_memory_on_a_full_disk_says_to_make_room_and_not_to_start_afresh(tmp_path):
    with no_file_beyond(100), pytest.raises(CantWrite, match=r"m\.sqlite: can't be written .* make room"):
        SqliteStore(tmp_path / "m.sqlite", "scope")


@pytest.mark.parametrize("when", ["opened", "written", "no folder"])
def test_vectors_that_can_not_be_kept_are_computed_all_the_same(tmp_path, when):
    texts = [f"text {i}" for i in range(600)]
    path = tmp_path / ("file/v.sqlite" if when == "no folder" else "v.sqlite")
    (tmp_path / "file").write_bytes(b"")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if when == "written":
            cached = CachedEncoder(HashedEncoder(), path)
        with no_file_beyond(100 if when != "no folder" else 10**9):
            if when != "written":
                cached = CachedEncoder(HashedEncoder(), path)
            found = cached.encode_passages(texts)
    assert np.array_equal(found, HashedEncoder().encode_passages(texts))
    assert len(said) == 1
    assert "not kept on disk" in str(said[0].message)


def test_an_index_that_a_full_disk_takes_half_of_says_why(tmp_path):
    with no_file_beyond(1000), pytest.raises(OSError, match="too large") as caught:
        write_parts(tmp_path, [], vectors=np.zeros((50, 384), dtype=np.float32))
    assert is_full(caught.value)


def test_an_index_is_read_as_it_was_written(tmp_path):
    vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
    write_parts(tmp_path, {"a": 1}, vectors=vectors)
    body, arrays = read_parts(tmp_path)
    assert body == {"a": 1}
    np.testing.assert_array_equal(arrays["vectors"], vectors)
