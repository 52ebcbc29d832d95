"""A model server that misbehaves on a schedule, through whole runs: nothing is lost, doubled or left out."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.engines.server import ServerEngine
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.runner.evaluate import evaluate
from programs.runner.execute import EngineGone
from programs.runner.folder import RunFolder
from programs.runner.scoring import score_tables
from tests.support.endpoint import Endpoint, breaks_off, closes, completion, junk, other_shape, send, served, status
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions, records_of
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder
from tests.support.worlds import small_settings

HANG = 0.4
QUERIES = 50


def answers(handler, body):
    """Answer well, by the same rule as the scripted model."""
    messages = tuple(ChatMessage(m["role"], m["content"]) for m in body["messages"])
    send(handler, completion(opinions(ChatRequest(messages, max_tokens=body["max_tokens"]))))


def hangs(handler, body):
    import time

    time.sleep(HANG * 2)
    handler.close_connection = True


FAULTS = [status(500), hangs, breaks_off, junk, closes, other_shape, status(503)]


@contextmanager
def runtime_on(schedule, retries=1):
    """Serve; `schedule(n)` is how the n-th completion is answered."""
    count = [0]

    def play(handler, body):
        count[0] += 1
        schedule(count[0])(handler, body)

    endpoint = Endpoint(models=lambda handler, body: send(handler, {"data": [{"id": "tiny", "max_model_len": 8192}]}))
    endpoint.answers = [play]
    with served(endpoint):
        engine = ServerEngine(endpoint.url, "tiny", timeout=HANG, retries=retries, context=8192)
        model = LanguageModel(engine)
        settings = small_settings(**ASKS_MODELS)
        yield Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())
        engine.close()


def check_every_query_is_there_once(folder, methods):
    records = records_of(folder)
    for method in methods:
        own = [record for record in records if record["method"] == method]
        assert [record["position"] for record in own] == list(range(QUERIES))
        for record in own:
            why = record["error"] or record["rejections"]
            assert (record["status"] == "completed") != bool(why), record["query_id"]
    tables = score_tables(RunFolder(folder))
    summary = json.loads((folder / "summary.json").read_text())
    for table in tables:
        entry = summary["methods"][table.method]
        failed = sum(r["status"] == "incomplete" for r in records if r["method"] == table.method)
        assert entry["incomplete"] == failed
        assert entry["records"] == entry["metrics"]["f1"]["n"] == QUERIES  # incomplete ones stay in the denominator
    return records


def test_every_query_of_a_run_on_a_flaky_server_ends_completed_or_incomplete_with_its_reason(tmp_path):
    def schedule(n):
        # Each fault once by itself, which a retry mends, and later twice in a row, which it does not.
        if n % 12 == 5:
            return FAULTS[n // 12 % len(FAULTS)]
        return FAULTS[n // 30 % len(FAULTS)] if n % 30 in (20, 21) else answers

    evaluation = make_evaluation("vanilla,staterag", queries=QUERIES)
    with runtime_on(schedule) as runtime:
        evaluate(evaluation, evaluation.manifest(), runtime, tmp_path)
    records = check_every_query_is_there_once(tmp_path, ("vanilla", "staterag"))
    by_transport = [record for record in records if record["error"]]
    retried = [
        call for record in records for call in record["calls"] if call["transport_retries"] and not call["error"]
    ]
    assert by_transport
    assert all(record["error"].startswith("LMTransportError") for record in by_transport)
    assert all(record["calls"][-1]["error"] for record in by_transport)  # the failed call is in the ledger
    assert retried


def test_several_workers_on_a_flaky_server_lose_nothing_either(tmp_path):
    evaluation = make_evaluation("vanilla", queries=QUERIES)
    with runtime_on(lambda n: FAULTS[n % len(FAULTS)] if n % 5 == 0 else answers, retries=0) as runtime:
        evaluate(evaluation, evaluation.manifest(), runtime, tmp_path, workers=4)
    records = check_every_query_is_there_once(tmp_path, ("vanilla",))
    assert any(record["status"] == "incomplete" for record in records)


def test_a_server_that_dies_stops_the_run_with_all_kept_and_resume_runs_again_what_found_it_dead(tmp_path):
    evaluation = make_evaluation("vanilla", queries=QUERIES)
    manifest = evaluation.manifest()
    with (
        runtime_on(lambda n: answers if n <= 20 else status(500), retries=0) as runtime,
        pytest.raises(EngineGone, match="--resume"),
    ):
        evaluate(evaluation, manifest, runtime, tmp_path, stop_after=3)
    stopped = records_of(tmp_path)
    assert [record["status"] for record in stopped] == ["completed"] * 20 + ["incomplete"] * 3
    assert not (tmp_path / "summary.json").exists()
    with runtime_on(lambda n: answers) as runtime:
        evaluate(evaluation, manifest, runtime, tmp_path, resume=True, stop_after=3)
    records = check_every_query_is_there_once(tmp_path, ("vanilla",))
    assert all(record["status"] == "completed" for record in records)
    assert records[:20] == stopped[:20]
    withdrawn = [json.loads(line) for line in (tmp_path / "withdrawn.jsonl").read_text().splitlines()]
    assert [record["position"] for record in withdrawn] == [20, 21, 22]  # what they spent is not forgotten


def test_a_server_that_refuses_every_request_stops_the_run_too(tmp_path):
    evaluation = make_evaluation("vanilla", queries=QUERIES)
    with (
        runtime_on(lambda n: status(401)) as runtime,
        pytest.raises(EngineGone, match="401"),
    ):
        evaluate(evaluation, evaluation.manifest(), runtime, tmp_path, stop_after=2)
    assert len(records_of(tmp_path)) == 2
