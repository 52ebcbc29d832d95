"""I8: a run that is killed at any instant and taken up again ends as one that was never killed."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from functools import partial

import pytest

from programs.runner.evaluate import evaluate
from tests.runner import killable
from tests.support.dying import Killed, dying
from tests.support.runs import (
    make_evaluation,
    memory_of,
    opinions,
    records_of,
    scripted_runtime,
    timeless_summary,
    without_times,
)

KILLS = 25
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.runner.killable"])


def killed_after(seconds, *arguments, begun=None):
    """Run in another process and kill it; tell whether it was still at work. The clock starts once a file is there."""
    process = processes.Process(target=killable.run_once, args=arguments)
    process.start()
    while begun is not None and process.is_alive() and not begun.exists():
        time.sleep(0.002)
    process.join(seconds)
    alive = process.is_alive()
    process.kill()
    process.join()
    return alive


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A run that nothing happened to, its manifest, and how long it takes."""
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    evaluation = make_evaluation("staterag")
    manifest = evaluation.manifest()
    started = time.monotonic()
    summary = evaluate(evaluation, manifest, scripted_runtime(latency=killable.LATENCY), folder)
    return folder, manifest, timeless_summary(summary), time.monotonic() - started


def test_I8_a_run_with_global_memory_killed_at_25_random_instants_ends_as_one_never_killed(unbroken, tmp_path):
    expected, manifest, summary, seconds = unbroken
    records, memory = records_of(expected), memory_of(expected)
    assert len(records) == 30
    assert {record["status"] for record in records} == {"completed", "incomplete"}
    assert sum(record["memory"]["hits"] for record in records) > 0
    draw = random.Random(20)
    in_the_middle = 0
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        written = folder / "records.jsonl"
        begun = written if kill % 5 else None  # every fifth also while it starts
        killed_after(draw.uniform(0, seconds), str(folder), "staterag", manifest, begun=begun)
        before = written.read_bytes().count(b"\n") if written.exists() else 0
        in_the_middle += 0 < before < 30
        killable.run_once(str(folder), "staterag", manifest)
        assert records_of(folder) == records
        assert memory_of(folder) == memory
        assert timeless_summary(json.loads((folder / "summary.json").read_text())) == summary
    assert in_the_middle >= KILLS // 2


def test_I8_a_run_killed_again_and_again_still_ends_the_same(unbroken, tmp_path):
    expected, manifest, _, seconds = unbroken
    draw = random.Random(5)
    for _ in range(6):
        killed_after(draw.uniform(0.1, 0.4) * seconds, str(tmp_path), "staterag", manifest)
    killable.run_once(str(tmp_path), "staterag", manifest)
    assert records_of(tmp_path) == records_of(expected)


def test_I8_several_workers_killed_and_resumed_give_the_records_of_one_worker_never_killed(tmp_path):
    evaluation = make_evaluation("vanilla")
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, scripted_runtime(latency=killable.LATENCY), tmp_path / "one")
    for kill, seconds in enumerate((0.02, 0.05, 0.1)):
        folder = tmp_path / str(kill)
        killed_after(seconds, str(folder), "vanilla", manifest, 4)
        killable.run_once(str(folder), "vanilla", manifest, 4)
        assert records_of(folder) == records_of(tmp_path / "one")


def test_I8_a_line_cut_anywhere_by_the_kill_is_dropped_and_its_query_run_again(unbroken, tmp_path):
    expected, manifest, _, _ = unbroken
    whole = (expected / "records.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    evaluation = make_evaluation("staterag")
    for cut in (1, len(lines[12]) // 2, len(lines[12]) - 1):
        folder = tmp_path / str(cut)
        evaluate(evaluation, manifest, scripted_runtime(), folder)
        (folder / "summary.json").unlink()  # which stands only where no line is cut any more
        (folder / "records.jsonl").write_bytes(b"".join(lines[:12]) + lines[12][:cut])
        evaluate(evaluation, manifest, scripted_runtime(), folder, resume=True)
        assert records_of(folder) == records_of(expected)
        assert without_times(records_of(folder)[12]) == without_times(records_of(expected)[12])


def test_I8_no_call_that_was_answered_before_the_kill_is_made_again(tmp_path):
    evaluation = make_evaluation("staterag", queries=6)
    manifest = evaluation.manifest()
    evaluate(evaluation, manifest, whole := scripted_runtime(), tmp_path / "whole")

    asked = []
    dies_after = partial(dying, opinions, asked)
    limits = (3, 11, 20)
    for limit in limits:
        with pytest.raises(Killed):
            evaluate(evaluation, manifest, scripted_runtime(script=dies_after(limit)), tmp_path / "run", resume=True)
    evaluate(evaluation, manifest, scripted_runtime(script=dies_after(-1)), tmp_path / "run", resume=True)
    assert records_of(tmp_path / "run") == records_of(tmp_path / "whole")
    assert asked == whole.reader.engine.requests
