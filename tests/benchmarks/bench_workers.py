"""Throughput with one worker and with eight, on a local server that takes 200 ms an answer."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from programs.models.engines.server import ServerEngine
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.runner.evaluate import evaluate
from tests.support.endpoint import Endpoint, completion, send, served
from tests.support.runs import make_evaluation, records_of
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder
from tests.support.worlds import small_settings

LATENCY = 0.2
QUERIES = 64


def slow(handler, body) -> None:
    time.sleep(LATENCY)
    send(handler, completion("the dome"))


def main() -> None:
    evaluation = make_evaluation("vanilla", small_settings(), queries=QUERIES, collections=QUERIES)
    manifest = evaluation.manifest()
    endpoint = Endpoint(models=lambda handler, body: send(handler, {"data": [{"id": "tiny", "max_model_len": 8192}]}))
    endpoint.answers = [slow]
    seconds, records = {}, {}
    with served(endpoint), tempfile.TemporaryDirectory() as place:
        for workers in (1, 8):
            model = LanguageModel(ServerEngine(endpoint.url, "tiny", context=8192))
            runtime = Runtime(small_settings(), model, model, HashedEncoder(), OverlapCrossEncoder())
            out = Path(place) / str(workers)
            started = time.perf_counter()
            evaluate(evaluation, manifest, runtime, out, workers=workers)
            seconds[workers], records[workers] = time.perf_counter() - started, records_of(out)
    print(f"{QUERIES} queries, {LATENCY * 1000:.0f} ms an answer, method vanilla")
    for workers, taken in seconds.items():
        print(f"  {workers} workers: {taken:.2f} s, {QUERIES / taken:.1f} queries a second")
    print(f"  {seconds[1] / seconds[8]:.2f} times the throughput; same records: {records[1] == records[8]}")


if __name__ == "__main__":
    main()
