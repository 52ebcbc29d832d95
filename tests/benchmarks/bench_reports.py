"""`compare` and `report` over 100,000 records in run folders, each command in a process of its own: time and memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation, question_set
from programs.runner.folder import reference_lines
from programs.selection.configured import ConfiguredMethod
from programs.workloads.query import Example, Query, Reference
from programs.workloads.registry import Workload
from tests.support.records import sealed_row
from tests.support.runs import make_evaluation, scripted_runtime
from tests.support.worlds import make_collection, small_settings

RECORDS = 100_000
METHODS = ("vanilla", "vanilla-rerank", "staterag", "dosrag", "react")


def make_run(folder: Path) -> None:
    """Write a run of many queries whose records are a real one's, with other ids, answers and times."""
    small = make_evaluation("staterag", queries=8)
    evaluate(small, small.manifest(), scripted_runtime(), folder / "small")
    patterns = [json.loads(line) for line in (folder / "small/records.jsonl").read_text().splitlines()]
    queries = RECORDS // len(METHODS)
    collection = make_collection(2)
    examples = tuple(
        Example(
            query=Query(query_id=f"q{i}", question=f"Which dome is number {i}?", collection=collection, position=i),
            reference=Reference(query_id=f"q{i}", answers=("the answer 7", f"dome {i}"), cluster=f"c{i // 5}"),
        )
        for i in range(queries)
    )
    workload = Workload(name="qasper", split="eval", files=(), examples=examples)
    methods = tuple(ConfiguredMethod(name, small_settings()) for name in METHODS)
    questions = question_set(workload)
    manifest = Evaluation(workload, methods[:3]).manifest()
    manifest = manifest.model_copy(
        update={"questions": questions, "methods": tuple(method.entry() for method in methods)}
    )
    run = folder / "run"
    run.mkdir()
    (run / "manifest.json").write_text(manifest.model_dump_json())
    (run / "references.jsonl").write_bytes(reference_lines(example.reference for example in examples))
    digest = json.loads((run / "manifest.json").read_text()) and manifest.digest
    draw = random.Random(0)
    with (run / "records.jsonl").open("wb") as file:
        for method in METHODS:
            for i in range(queries):
                row = dict(draw.choice(patterns), query_id=f"q{i}", position=i, method=method, manifest=digest)
                row["answer"] = draw.choice(["the answer 7", "another answer", "", f"dome {i}"])
                row["latency"] = {"index": draw.random(), "online": draw.random() * 9}
                file.write(sealed_row(row))


def measured(*arguments: str) -> str:
    """Run a command; give its time and peak memory."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "programs.run", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    taken = time.perf_counter() - started
    return f"{taken:.1f} s, {usage.ru_maxrss / 1024:.0f} MB, exit code {os.waitstatus_to_exitcode(status)}"


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_run(folder)
        size = (folder / "run/records.jsonl").stat().st_size
        print(f"{RECORDS:,} records of {len(METHODS)} methods, {size / 1e6:.0f} MB")
        print("  compare:", measured("compare", str(folder / "run")))
        print("  report: ", measured("report", str(folder / "run"), "--out", str(folder / "report")))


if __name__ == "__main__":
    main()
