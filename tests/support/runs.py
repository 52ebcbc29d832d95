"""A small workload and a scripted runtime for tests of whole runs: deterministic, and busy enough to be interrupted."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from programs.models.engines.engine import ChatRequest
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.runner.evaluation import Evaluation
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings
from programs.workloads.query import Example, Query, Reference
from programs.workloads.registry import Workload
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import grade_all
from tests.support.worlds import TOPICS, make_collection, small_settings

ASKS_MODELS = {
    "navigation": {"scorer": {"listwise": 1.0}},
    "retriever": {"ranker": "model"},
    "verifier": {"rule": "model"},
    "tam": {"abstraction": "model"},
    "memory": {"plan_similarity": 0.3},
}
TIMES = ("latency", "seconds", "check")


def opinions(request: ChatRequest) -> str:
    """Answer as a function of the prompt alone, with every way for a query to end among the answers."""
    text = request.messages[-1].content
    chance = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 100
    opening = request.messages[0].content
    if opening.startswith("You are the Planner"):
        words = re.findall(r"\w+", text)[:40]
        broken = "nonsense" if chance < 6 else ""
        return broken or json.dumps({"objective": " ".join(words[:6]), "targets": [TOPICS[chance % 4], words[-1]]})
    if opening.startswith("You score candidate"):
        return grade_all(request)
    if opening.startswith("You are the Retriever"):
        return json.dumps({"selected": [1, 2]})
    if opening.startswith("You are the Verifier"):
        verdict = "PASS" if chance < 55 else "FAIL"
        return json.dumps({"verdict": verdict, "justification": f"because of {chance}"})
    if opening.startswith("You generate a concise"):
        return f"a summary of {chance}"
    return f"the answer {chance}"


def make_workload(queries: int = 30, collections: int = 6, name: str = "test") -> Workload:
    """Questions in turn over a few collections, so that memory and indexes are shared."""
    every = [make_collection(sources=6 + i) for i in range(collections)]
    examples = []
    for position in range(queries):
        query_id = f"q{position}"
        question = f"Which {TOPICS[position % 4].split()[position % 3]} belongs to item{position % 6}x{position % 5}?"
        collection = every[position % collections]
        examples.append(
            Example(
                query=Query(query_id=query_id, question=question, collection=collection, position=position),
                reference=Reference(query_id=query_id, answers=("the answer 7",), cluster=f"c{position % collections}"),
            )
        )
    return Workload(name=name, split="dev", files=(), examples=tuple(examples))


def scripted_runtime(settings: Settings | None = None, latency: float = 0.0, script: Any = opinions) -> Runtime:
    model = LanguageModel(ScriptedEngine(script, parameters=1000, latency=latency))
    return Runtime(settings or small_settings(**ASKS_MODELS), model, model, HashedEncoder(), OverlapCrossEncoder())


def make_evaluation(methods: str = "staterag", settings: Settings | None = None, **workload: Any) -> Evaluation:
    chosen = settings or small_settings(**ASKS_MODELS)
    return Evaluation(make_workload(**workload), tuple(ConfiguredMethod(name, chosen) for name in methods.split(",")))


def without_times(value: Any) -> Any:
    """Leave out what may differ between two runs of the same thing."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    if isinstance(value, list):
        return [without_times(item) for item in value]
    return value


def records_of(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [without_times(json.loads(line)) for line in lines]
    return sorted(rows, key=lambda row: (row["method"], row["position"]))


def memory_of(folder: Path) -> list[tuple[Any, ...]]:
    """Give what StateRAG's global memory of a run holds, in an order of its own; nothing where the run has none."""
    file = folder / "methods/staterag/memory.sqlite"
    if not file.exists():
        return []
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT artifact_id, position, kind, key, payload, producer, provenance FROM artifacts")
        return sorted(rows.fetchall())


def timeless_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary without what hangs on time."""
    for entry in summary["methods"].values():
        entry["metrics"] = {name: value for name, value in entry["metrics"].items() if "latency" not in name}
    summary["sha256"].pop("records.jsonl", None)
    return summary
