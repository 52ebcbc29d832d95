"""Files of development questions and scripted models, for searches over parameters: small, exact and quick."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from optimize.development import DevelopmentExample
from optimize.options import ParameterRequest
from optimize.parameters import run as parameters_run
from optimize.parameters.run import run_search
from optimize.parameters.trial import Trial
from programs.documents.collection import Collection, Source
from programs.models.runtime import Runtime
from programs.settings import Settings
from programs.workloads.query import Query, Reference
from tests.support.runs import opinions, scripted_runtime
from tests.support.worlds import TOPICS
from tests.workloads.files import write_rows

SCRIPTED = [
    "reader.engine=scripted",
    "auxiliary.engine=scripted",
    "encoder.engine=hashed",
    "cross_encoder.engine=overlap",
    "tam.region_tokens=24",
    "tam.overlap_tokens=0",
    "lifecycle.reader_budget=128",
]
GRAPH = ["encoder.relation_threshold=0.6", "encoder.topic_threshold=0.4", "tam.abstraction=lead"]
"""What only a method with a typed graph declares."""


def write_longbench(folder: Path, task: str, questions: int, split: str = "dev", passages: int = 12) -> Path:
    """Write questions on two titles each, whose passages are a few words long and easily mixed up."""
    rows = [_row(task, number, passages) for number in range(questions)]
    return write_rows(folder / "longbench" / f"{task}.{split}.jsonl", *rows)


def write_tasks(folder: Path, **questions: int) -> Path:
    """Write so many questions of each task, and give the folder they are below."""
    for task, count in questions.items():
        write_longbench(folder, task, count)
    return folder


def _row(task: str, number: int, passages: int) -> dict[str, Any]:
    titles = [f"{task.title()} {number} Place {i}" for i in range(passages)]
    texts = [
        f"Passage {i + 1}:\n{title}\n"
        + " ".join(f"{TOPICS[(number + i) % 4]} word{number}x{i}x{j}" for j in range(4 + i))
        for i, title in enumerate(titles)
    ]
    first, second = number % passages, (number * 5 + 3) % passages
    return {
        "_id": f"{task}-{number}",
        "input": f"What have word{number}x{first}x1 and word{number}x{second}x0 in common with {titles[second]}?",
        "context": "\n".join(texts) + "\n",
        "answers": [f"answer {number}"],
        "length": 100,
        "dataset": task,
        "language": "en",
        "all_classes": None,
        "supporting_titles": [titles[first], titles[second]],
    }


def request(folder: Path, **options: Any) -> ParameterRequest:
    """Ask for a search over the files that `write_longbench` wrote below the folder."""
    settled: dict[str, Any] = {
        "method": "vanilla-rerank",
        "workload": "longbench/hotpotqa,longbench/musique",
        "trials": 14,
        "data": folder,
        "train": 0.0,
        "preset": "tiny",
        "out": folder / "out" / "compiled.json",
        "search": folder / "search",
        "overrides": [*SCRIPTED, *(GRAPH if options.get("method") == "staterag" else [])],
        **options,
    }
    return ParameterRequest(**settled)


def run(folder: Path, latency: float = 0.0, script: Any = opinions, drawn: bool = False, **options: Any) -> Trial:
    """Search, without drawing the figure unless it is wanted."""

    def open_models(settings: Settings) -> Runtime:
        return scripted_runtime(settings, latency, script)

    draw = parameters_run.write_page if drawn else (lambda *_: [])
    with patch.object(parameters_run, "write_page", draw):
        return run_search(request(folder, **options), open_models)


def make_examples(
    count: int, workloads: tuple[str, ...] = ("a",), cluster: str | None = None
) -> list[DevelopmentExample]:
    """Make questions that are told apart by position alone."""
    collection = Collection(sources=(Source(source_id="s", text="some words"),))
    return [
        DevelopmentExample(
            query=Query(query_id=f"q{position}", question="What?", collection=collection, position=position),
            reference=Reference(query_id=f"q{position}", answers=("x",), cluster=cluster),
            workload=workloads[position % len(workloads)],
        )
        for position in range(count)
    ]


def make_trial(number: int, quality: Any, cost: Any, **rest: Any) -> Trial:
    return Trial(number, rest.pop("state", "complete"), {}, {}, tuple(quality), tuple(cost), **rest)
