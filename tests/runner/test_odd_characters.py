"""Runs on a server whose answers hold what no file takes: half characters, control characters, control tokens."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from metrics.record import QueryRecord
from programs.models.engines.server import ServerEngine
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.report.answer import print_answer
from programs.report.console import print_states, results_table
from programs.runner.evaluate import evaluate
from programs.runner.folder import RunFolder
from tests.support.endpoint import Endpoint, completion, send, served
from tests.support.runs import make_evaluation, without_times
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder
from tests.support.worlds import small_settings

HALF = "\ud83d"
ODD = f"in {HALF} Vienna \x00\x1b[2J\x07 <|im_end|> \udfff"
SAFE = "in \ufffd Vienna \x00\x1b[2J\x07 <|im_end|> \ufffd"


class Interrupted(Exception):
    """What a test ends a run by."""


@pytest.fixture
def endpoint():
    models = {"data": [{"id": "tiny", "max_model_len": 8192}]}
    running = Endpoint(models=lambda handler, body: send(handler, models))
    running.answers = [lambda handler, body: send(handler, completion(ODD))]
    with served(running):
        yield running


def run(endpoint, folder, resume=False, listener=lambda *_: None):
    engine = ServerEngine(endpoint.url, "tiny", timeout=30.0, context=8192)
    model = LanguageModel(engine)
    runtime = Runtime(small_settings(), model, model, HashedEncoder(), OverlapCrossEncoder())
    evaluation = make_evaluation("vanilla", settings=runtime.settings, queries=3)
    evaluate(evaluation, evaluation.manifest(), runtime, folder, resume=resume, listener=listener)
    return [without_times(record.model_dump(mode="json")) for record in RunFolder(folder).records()]


def test_half_a_character_in_a_completion_breaks_neither_a_run_nor_its_record(endpoint, tmp_path):
    records = run(endpoint, tmp_path)
    assert [record["answer"] for record in records] == [SAFE] * 3
    assert all(record["status"] == "completed" for record in records)
    (tmp_path / "records.jsonl").read_bytes().decode("utf-8")


def test_I8_a_run_goes_on_over_a_journal_that_holds_half_a_character(endpoint, tmp_path):
    def die(method, done, total, record):
        if done == 2:
            raise Interrupted

    whole = run(endpoint, tmp_path / "whole")
    with pytest.raises(Interrupted):
        run(endpoint, tmp_path / "cut", listener=die)
    journal = next((tmp_path / "cut").rglob("journal.jsonl"))
    lines = (tmp_path / "cut" / "records.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut" / "records.jsonl").write_bytes(
        b"".join(lines[:1])
    )  # the second record was lost, its call was not
    kept = [json.loads(line) for line in journal.read_text().splitlines()]
    for line in kept:  # as an earlier version wrote it
        line["made"]["text"] = ODD
    journal.write_text("".join(json.dumps(line) + "\n" for line in kept))
    asked = len(endpoint.seen)
    assert run(endpoint, tmp_path / "cut", resume=True) == whole
    assert len(endpoint.seen) == asked + 1  # the second was replayed


def test_what_a_completion_holds_can_not_reach_the_terminal_as_anything_but_text(endpoint, tmp_path):
    run(endpoint, tmp_path)
    record: QueryRecord = next(RunFolder(tmp_path).records())
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=False, width=200)
    print_states(record, console)
    print_answer(record, console, {}, full=True, verbose=True, best_guess=True)
    console.print(results_table([(record, ("Vienna",), True, 1.0)]))
    assert "Vienna" in shown.getvalue()
    assert not [c for c in shown.getvalue() if c < " " and c != "\n"]
