"""A search for prompts as the command line asks for it: opens what it needs, runs it, and tells what it found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from metrics.metric import METRICS
from metrics.significance import Interval
from optimize.measure import MACRO, Measured
from optimize.options import STUDY, PromptRequest
from optimize.prompts.optimizers import check_optimizer
from optimize.prompts.search import COST, RULE, Found, Search, check, choose_prompts, compiled_prompts
from optimize.search_page import ABOUT, TRIALS, write_page
from optimize.search_start import check_out, fixed_settings, open_questions, open_start
from programs.atomic import replacing
from programs.commands.terminal import err, out
from programs.errors import InputError
from programs.models.runtime import Runtime, announce_language_model, open_engine
from programs.report.bars import bars
from programs.selection.compiled import Prompt, write_compiled
from programs.selection.configured import ConfiguredMethod
from programs.settings import LanguageModelSettings, Settings

START = "start"
PROPOSER = "proposer"
PROMPTS = "prompts.json"
PROPOSER_CONTEXT = 8192
"""Tokens of context to make room for: a proposer reads several examples at once."""


def proposer_settings(request: PromptRequest) -> LanguageModelSettings | None:
    """Say which model proposes instructions, if it is one of its own."""
    if request.proposer_model is None:
        return None
    if request.proposer_engine not in ("llama", "server"):
        raise InputError(f"--proposer-engine is llama or server, not {request.proposer_engine!r}")
    return LanguageModelSettings(
        engine=request.proposer_engine,
        model=request.proposer_model,
        base_url=request.proposer_url,
        context=PROPOSER_CONTEXT,
    )


def check_options(request: PromptRequest) -> None:
    """Say at once what is out of bounds, or can't be written in the end."""
    if request.workers < 1:
        raise InputError("--workers counts from 1")
    if not 0 < request.good <= 1:
        raise InputError(f"--good is a score above 0 and up to 1, not {request.good}")
    check_out(request)
    if (request.folder / STUDY).exists():
        raise InputError(f"{request.folder} is the folder of a search for parameters; name another with --search")
    check_optimizer(request.optimizer)


def run_search(request: PromptRequest, open_models: Callable[[Settings], Runtime]) -> Found:
    """Do what was asked for."""
    check_options(request)
    start = open_start(request)
    fixed = fixed_settings(request, start.settings)
    search = Search(
        request.optimizer,
        request.metric,
        request.budget,
        request.seed,
        request.good,
        request.workers,
    )
    development = open_questions(request)
    check(search, development, start)
    own = proposer_settings(request)
    if own is not None:
        announce_language_model(own, PROPOSER)
    runtime = open_models(start.settings)
    proposer = open_engine(own, PROPOSER) if own is not None else None
    try:
        with bars(err) as show:
            found = choose_prompts(start, development, runtime, request.kept_completions, search, proposer, show)
    except KeyboardInterrupt:
        err.print(f"stopped; {request.folder} keeps every completion: the same command goes on")
        raise
    finally:
        for opened in (runtime, proposer):
            if opened is not None:
                opened.close()
    write_candidates(request.folder, start, found)
    write_compiled(request.out, compiled_prompts(start, development, found, fixed))
    show_found(found, request.out)
    return found


def show_found(found: Found, path: Path) -> None:
    """Tell what was chosen, and what it is worth."""
    gain = found.gain
    out.print(_table(found))
    for name in found.changed:
        prompt = found.prompts[name]
        out.print(Text(f"{name}, with {len(prompt.demos)} demonstrations: {prompt.instructions}\n"))
    if found.refused:
        err.print(f"{len(found.refused)} instructions were refused, because they quoted development questions")
    better = f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    verdict = better if found.changed else "the start is kept"
    out.print(Text(f"{path}: {verdict}; {found.candidates} candidates, {found.runs} runs"))


def _table(found: Found) -> Table:
    quality = found.search.quality
    table = Table("", METRICS[quality].label, "RET", title=f"On {len(found.start.records)} validation questions")
    for name, measured in (("start", found.start), ("chosen", found.chosen)):
        table.add_row(name, interval_text(measured.interval(quality)), f"{measured.mean(COST):.0f}")
    return table


def interval_text(found: Interval) -> str:
    """Write a mean and its interval, if it has one."""
    bounds = "" if math.isnan(found.low) else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.mean:.3f}{bounds}"


def write_candidates(folder: Path, start: ConfiguredMethod, found: Found) -> None:
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
    lines = [_line(number, found, names) for number in range(len(found.tried))]
    _write(folder / ABOUT, json.dumps(search, indent=2))
    _write(folder / PROMPTS, json.dumps(full, indent=2, ensure_ascii=False))
    _write(folder / TRIALS, "\n".join(map(json.dumps, lines)))
    write_page(folder, search, lines, [_table(found)])


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
