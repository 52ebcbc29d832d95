"""A search over prompts in a process of its own, which a test can kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optimize.prompts.search import Search, choose_prompts, compiled_prompts
from programs.selection.compiled import write_compiled
from programs.selection.configured import ConfiguredMethod
from tests.optimize.prompt_world import make_development, make_runtime, slowly_better

LATENCY = 0.004


def search_once(folder: str, optimizer: str = "gepa", script: Any = slowly_better, latency: float = LATENCY) -> None:
    """Begin the search, or go on with it, and write its outcome."""
    development = make_development(5, 4)
    runtime = make_runtime(script, latency=latency)
    start = ConfiguredMethod("vanilla", runtime.settings)
    search = Search(optimizer, "f1", 40, 3)
    found = choose_prompts(start, development, runtime, Path(folder) / "completions.sqlite", search)
    write_compiled(Path(folder) / "vanilla.json", compiled_prompts(start, development, found))
