"""Folders of searches made up for the tests, with a parameter that decides quality and one that decides cost."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

SPACE = {
    "navigation.paths": ["one", "plan"],
    "tam.region_tokens": [96, 128, 384],
    "verifier.threshold": {"low": 0.05, "high": 0.99, "log": True},
    "navigation.beam": {"low": 2, "high": 6, "step": 1},
    "lifecycle.carry": [True, False],
}
ABOUT = {
    "method": "staterag",
    "preset": "tiny",
    "quality": "title_mention",
    "cost": "ret",
    "rule": "Of the good ones, the cheapest.",
    "seed": 7,
    "trials": 40,
    "space": SPACE,
}


def line(number: int, quality: float | None = 0.5, cost: float | None = 1000.0, **changes: Any) -> dict[str, Any]:
    parameters = changes.pop("parameters", {"navigation.paths": "one", "navigation.beam": 2 + number % 5})
    row = {"number": number, "state": "complete", "parameters": parameters, "quality": quality, "cost": cost}
    each = {"longbench/hotpotqa": {"quality": quality, "cost": cost}}
    return row | {"by_workload": each, "queries": 60, "seconds": 12.5, "chosen": False} | changes


def drawn(number: int) -> dict[str, Any]:
    """A trial with parameters at random, of which paths decide quality and region tokens decide cost."""
    rng = random.Random(number)
    parameters = {
        "navigation.paths": rng.choice(["one", "plan"]),
        "tam.region_tokens": rng.choice([96, 128, 384]),
        "verifier.threshold": round(rng.uniform(0.05, 0.99), 3),
        "navigation.beam": rng.randint(2, 6),
        "lifecycle.carry": rng.random() < 0.5,
    }
    quality = 0.5 + 0.3 * (parameters["navigation.paths"] == "plan") + rng.gauss(0, 0.01)
    return line(number, quality, 500 + 5 * parameters["tam.region_tokens"] + rng.gauss(0, 5), parameters=parameters)


def trials(count: int) -> list[dict[str, Any]]:
    rows = [drawn(number) for number in range(count)]
    for row in rows[5::7]:
        row |= {"state": "pruned", "queries": 20}
    for row in rows[6::11]:
        row |= {"state": "failed", "quality": None, "cost": None, "by_workload": {}, "error": "keep < 1"}
    best = max((row for row in rows if row["state"] == "complete"), key=lambda row: row["quality"])
    best["chosen"] = True
    return rows


def write(folder: Path, rows: list[dict[str, Any]], **about: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "search.json").write_text(json.dumps(ABOUT | about))
    (folder / "trials.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder
