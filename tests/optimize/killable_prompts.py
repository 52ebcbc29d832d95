"""A search over prompts in a process of its own, which a test can kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optimize.prompts.search import Search, choose_prompts, compiled_prompts
from programs.models.engines.engine import ChatRequest
from programs.selection.compiled import write_compiled
from programs.selection.configured import ConfiguredMethod
from tests.optimize.prompt_world import (
    READS,
    REWRITES,
    answers_with_the_word,
    asked_of,
    instruction_of,
    make_development,
    make_runtime,
    position_in,
    rewritten,
    right,
)

LATENCY = 0.004


def slowly_better(request: ChatRequest) -> str:
    """Propose the word only after something else, so that a search has a history; read odd numbers with help alone."""
    opening, last = instruction_of(request), asked_of(request)
    if opening.startswith(REWRITES) and "light" not in last:
        return rewritten(f"{READS} by the light of day.")
    if opening.startswith(READS) and (len(request.messages) > 2 or position_in(last) % 2 == 0):
        return right(position_in(last))
    return answers_with_the_word(request)


def search_once(folder: str, optimizer: str = "gepa", script: Any = slowly_better, latency: float = LATENCY) -> None:
    """Begin the search, or go on with it, and write its outcome."""
    development = make_development(5, 4)
    runtime = make_runtime(script, latency=latency)
    start = ConfiguredMethod("vanilla", runtime.settings)
    search = Search(optimizer, "f1", 40, 3)
    found = choose_prompts(start, development, runtime, Path(folder) / "completions.sqlite", search)
    write_compiled(Path(folder) / "vanilla.json", compiled_prompts(start, development, found))
