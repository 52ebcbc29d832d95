"""Small selections for tests: rows in LongBench's schema, development questions of them, and compiled programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optimize.development import Development, open_development
from programs.methods.registry import specs
from programs.models.identity import model_identities
from programs.selection.compiled import Choice, Compiled, MeasuredMean, Spent, write_compiled
from programs.settings import load_settings
from tests.workloads.files import write_rows

TASK = "hotpotqa"
WORKLOAD = f"longbench/{TASK}"

AS_IT_IS = {"flat-fusion"}
"""A control whose settings follow from what StateRAG ships with, so that nothing is chosen for it."""
CHOSEN = {one.compiled_as for one in specs().values()} - AS_IT_IS


def row(name: str, **changes: Any) -> dict[str, Any]:
    """A made-up question about a made-up keeper, over a context of its own."""
    return {
        "_id": name,
        "input": f"Who keeps the light of {name} harbour?",
        "context": f"Passage 1:\nThe light of {name}\nThe light of {name} harbour is kept by Ada {name}.\n"
        f"Passage 2:\nThe ferry of {name}\nThe ferry of {name} leaves at noon and carries pears.\n",
        "answers": [f"Ada {name}"],
        "length": 30,
        "dataset": TASK,
        "language": "en",
        "all_classes": None,
        **changes,
    }


def write_data(folder: Path, dev: list[dict[str, Any]], evaluation: list[dict[str, Any]]) -> Path:
    write_rows(folder / "longbench" / f"{TASK}.dev.jsonl", *dev)
    write_rows(folder / "longbench" / f"{TASK}.eval.jsonl", *evaluation)
    return folder


def develop(data: Path, questions: Path | None = None) -> Development:
    return open_development([WORKLOAD], data, questions, None, 0.5, 7)


def compiled_on(development: Development, method: str = "vanilla", trials: int = 4, **changes: Any) -> Compiled:
    """What a search on these questions would have written."""
    choice = Choice(
        by="a test",
        objective="title_mention, then RET",
        rule="The best of them.",
        seed=7,
        development=development.digest,
        workloads=development.workloads,
        train=len(development.train),
        validation=len(development.validation),
        seen=development.seen,
        scores={WORKLOAD: {"title_mention": MeasuredMean(mean=0.5, n=len(development.validation))}},
        models=model_identities(load_settings("tiny")),
        spent=Spent(trials=trials, queries=8, prompt_tokens=100, completion_tokens=10, seconds=1.0),
    )
    return Compiled(**{"method": method, "preset": "tiny", "choice": choice, **changes})


def altered(compiled: Compiled, **changes: Any) -> Compiled:
    """The same program with another story of its choice."""
    assert compiled.choice is not None
    return compiled.model_copy(update={"choice": compiled.choice.model_copy(update=changes)})


def write_selection(folder: Path, *programs: Compiled) -> Path:
    for compiled in programs:
        write_compiled(folder / f"{compiled.method}.json", compiled)
    return folder
