"""What a search for prompts tried, in the search's folder: one line a candidate, as a search for parameters writes it.

A predictor's prompts stand there under short names, "start" and then by number; `prompts.json` has them in full.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from optimize.chosen_prompts import COST, RULE
from optimize.measure import MACRO, Measured
from optimize.prompt_search import Found
from optimize.search_record import ABOUT, TRIALS
from programs.atomic import replacing
from programs.methods.compiled import Prompt
from programs.methods.contender import Contender

START = "start"
PROMPTS = "prompts.json"


def write_candidates(folder: Path, start: Contender, found: Found) -> None:
    """Write what was searched, what was tried, and the prompts in full; each file whole."""
    names = {predictor: _names(predictor, found) for predictor in found.optimised}
    search = {
        "method": start.name,
        "preset": start.settings.preset,
        **_objectives(found),
        "rule": RULE.format(quality=found.search.quality),
        "seed": found.search.seed,
        "trials": len(found.tried),
        "space": {predictor: list(known) for predictor, known in names.items()},
    }
    full = {
        predictor: {name: prompt.model_dump(mode="json") for name, prompt in known.items()}
        for predictor, known in names.items()
    }
    lines = [json.dumps(_line(number, found, names)) for number in range(len(found.tried))]
    _write(folder / ABOUT, json.dumps(search, indent=2))
    _write(folder / PROMPTS, json.dumps(full, indent=2, ensure_ascii=False))
    _write(folder / TRIALS, "\n".join(lines))


def _names(predictor: str, found: Found) -> dict[str, Prompt]:
    """Name the different prompts of a predictor in the order in which they came."""
    different: list[Prompt] = []
    for prompts, _ in found.tried:
        if prompts[predictor] not in different:
            different.append(prompts[predictor])
    return {START if number == 0 else str(number): prompt for number, prompt in enumerate(different)}


def _line(number: int, found: Found, names: dict[str, dict[str, Prompt]]) -> dict[str, Any]:
    prompts, measured = found.tried[number]
    return {
        "number": number,
        "state": "complete",
        "parameters": {
            predictor: next(name for name, prompt in known.items() if prompt == prompts[predictor])
            for predictor, known in names.items()
        },
        **_values(measured, MACRO, found),
        "by_workload": {workload: _values(measured, workload, found) for workload in measured.workloads},
        "queries": len(measured.records),
        "seconds": round(sum(record.latency.index + record.latency.online for record in measured.records), 3),
        "chosen": measured is found.chosen,
    }


def _values(measured: Measured, workload: str, found: Found) -> dict[str, float | None]:
    means = {name: measured.mean(metric, workload) for name, metric in _objectives(found).items()}
    return {name: None if math.isnan(mean) else mean for name, mean in means.items()}


def _objectives(found: Found) -> dict[str, str]:
    return {"quality": found.search.quality, "cost": COST}


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode() + b"\n")
