"""A search for prompts as the command line asks for it: opens what it needs, runs it, and tells what it found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from metrics.metric import METRICS
from metrics.significance import Interval
from optimize.candidates import write_candidates
from optimize.chosen_prompts import COST, compiled_prompts
from optimize.optimizers import check_optimizer
from optimize.prompt_search import Found, Search, check, choose_prompts
from optimize.search_request import SearchRequest
from optimize.study import STUDY
from optimize.summary import write_summary
from programs.commands.terminal import err, out
from programs.errors import InputError
from programs.methods.compiled import write_compiled
from programs.models.backend import Backend
from programs.models.runtime import Runtime, open_backend
from programs.report.bars import bars
from programs.settings import LanguageModelSettings, Settings

PROPOSER_CONTEXT = 8192
"""Tokens of context to make room for: a proposer reads several examples at once."""


@dataclass(frozen=True, kw_only=True)
class Request(SearchRequest):
    """The options."""

    optimizer: str
    budget: int
    good: float = 1.0
    proposer_engine: str = "llama"
    proposer_model: str | None = None
    proposer_url: str | None = None

    @property
    def kind(self) -> str:
        """Each optimiser has a folder of its own."""
        return f"-{self.optimizer}"

    def proposer(self) -> Backend | None:
        """Open the model that proposes instructions, if it is one of its own."""
        if self.proposer_model is None:
            return None
        if self.proposer_engine == "llama":
            return open_backend(LanguageModelSettings(model=self.proposer_model, context=PROPOSER_CONTEXT), "proposer")
        if self.proposer_engine != "server":
            raise InputError(f"--proposer-engine is llama or server, not {self.proposer_engine!r}")
        settings = LanguageModelSettings(
            engine="server", model=self.proposer_model, base_url=self.proposer_url, context=PROPOSER_CONTEXT
        )
        return open_backend(settings, "proposer")

    def check(self) -> None:
        """Say at once what is out of bounds, or can't be written in the end."""
        if self.workers < 1:
            raise InputError("--workers counts from 1")
        if not 0 < self.good <= 1:
            raise InputError(f"--good is a score above 0 and up to 1, not {self.good}")
        self.check_out()
        if (self.folder / STUDY).exists():
            raise InputError(f"{self.folder} is the folder of a search for parameters; name another with --search")
        check_optimizer(self.optimizer)


def run_search(request: Request, open_models: Callable[[Settings], Runtime]) -> Found:
    """Do what was asked for."""
    request.check()
    start = request.contender()
    search = Search(
        request.optimizer,
        request.metric,
        request.budget,
        request.seed,
        request.good,
        request.workers,
    )
    development = request.development()
    check(search, development, start)
    runtime = open_models(start.settings)
    proposer = request.proposer()
    try:
        with bars(err) as show:
            found = choose_prompts(start, development, runtime, request.kept, search, proposer, show)
    except KeyboardInterrupt:
        err.print(f"stopped; {request.folder} keeps every completion: the same command goes on")
        raise
    finally:
        for opened in (runtime, proposer):
            if opened is not None:
                opened.close()
    write_candidates(request.folder, start, found)
    write_summary(request.folder)
    write_compiled(request.out, compiled_prompts(start, development, found, request.fixed(start.settings)))
    show_found(found, request.out)
    return found


def show_found(found: Found, path: Path) -> None:
    """Tell what was chosen, and what it is worth."""
    quality, gain = found.search.quality, found.gain
    table = Table("", METRICS[quality].label, "RET", title=f"On {len(found.start.records)} validation questions")
    for name, measured in (("start", found.start), ("chosen", found.chosen)):
        table.add_row(name, interval_text(measured.interval(quality)), f"{measured.mean(COST):.0f}")
    out.print(table)
    for name in found.changed:
        prompt = found.prompts[name]
        out.print(Text(f"{name}, with {len(prompt.demos)} demonstrations: {prompt.instructions}\n"))
    if found.refused:
        err.print(f"{len(found.refused)} instructions were refused, because they quoted development questions")
    better = f"{gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"
    verdict = better if found.changed else "the start is kept"
    out.print(Text(f"{path}: {verdict}; {found.candidates} candidates, {found.runs} runs"))


def interval_text(found: Interval) -> str:
    """Write a mean and its interval, if it has one."""
    bounds = "" if math.isnan(found.low) else f" [{found.low:.3f}, {found.high:.3f}]"
    return f"{found.mean:.3f}{bounds}"
