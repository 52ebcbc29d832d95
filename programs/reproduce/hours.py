"""What a reproduction would spend, before anything is spent: tokens from rehearsals, hours from a rate of tokens."""

from __future__ import annotations

import time
from dataclasses import dataclass

from programs.errors import InputError
from programs.models.engines.engine import ChatMessage, ChatRequest, Engine
from programs.models.runtime import Runtime
from programs.reproduce.planned import PlannedRun
from programs.runner.estimate import Estimate, Spread

SECONDS_AN_HOUR = 3600
PASSAGE = "The harbour of the town was enlarged when the ferry line was founded. " * 24
WRITTEN = 24
"""Tokens that a model is let write to see how fast it writes."""


@dataclass(frozen=True)
class Rate:
    """Tokens a second that a model reads and writes, one request at a time."""

    read: float
    write: float

    def seconds(self, prompt: float, completion: float) -> float:
        """Say how long so many tokens take."""
        return prompt / self.read + completion / self.write


@dataclass(frozen=True)
class PlanLine:
    """A planned run, how many queries it has, and what it would spend; None where it is finished already."""

    run: PlannedRun
    queries: int
    estimate: Estimate | None
    hours: Spread


def stated_rate(said: str) -> Rate:
    """Read a rate as a person states it."""
    parts = said.split(",")
    try:
        read, write = (float(part) for part in parts)
    except ValueError:
        read = write = 0.0
    if not (0 < read < float("inf") and 0 < write < float("inf")):
        raise InputError(f"--rate is tokens a second read and written, such as 2000,40; not {said!r}")
    return Rate(read, write)


def measured_rate(runtime: Runtime) -> Rate:
    """Ask each model twice, briefly, and take the slower one: the calls of a run are not told apart by model."""
    rates = [_measured(engine) for engine in {id(e): e for e in _engines(runtime)}.values()]
    return Rate(min(rate.read for rate in rates), min(rate.write for rate in rates))


def hours(estimate: Estimate, rate: Rate, own_seconds: float) -> Spread:
    """Turn tokens into hours. `own_seconds` is what encoders and the program's own work take."""
    low = rate.seconds(estimate.prompt_tokens.least, estimate.completion_tokens.least)
    high = rate.seconds(estimate.prompt_tokens.most, estimate.completion_tokens.most)
    return Spread((low + own_seconds) / SECONDS_AN_HOUR, (high + own_seconds) / SECONDS_AN_HOUR)


def _engines(runtime: Runtime) -> list[Engine]:
    return [runtime.reader.engine, runtime.auxiliary.engine]


def _measured(engine: Engine) -> Rate:
    reading = ChatRequest((ChatMessage("user", PASSAGE),), max_tokens=1)
    writing = ChatRequest((ChatMessage("user", "Tell the history of the harbour."),), max_tokens=WRITTEN)
    engine.complete(writing)  # what a first call loads is nobody's rate
    started = time.perf_counter()
    tokens = engine.complete(reading).prompt_tokens
    read = time.perf_counter() - started
    started = time.perf_counter()
    written = engine.complete(writing)
    spent = time.perf_counter() - started - written.prompt_tokens * read / max(tokens, 1)
    return Rate(tokens / max(read, 1e-6), max(written.completion_tokens, 1) / max(spent, 1e-6))
