"""A method as it will run: by its name, with its settings and what was compiled for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from programs.methods.compiled import Compiled
from programs.methods.indexes import Indexes
from programs.methods.program import Program
from programs.methods.registry import open_method
from programs.models.runtime import Runtime
from programs.settings import Settings


@dataclass(frozen=True)
class Contender:
    """A method as it will run. The models are lent to it, so its settings may differ from theirs in all but models."""

    name: str
    settings: Settings
    compiled: Compiled | None = None

    def open(self, runtime: Runtime, workload: str, place: Path | None, shared: frozenset[str]) -> Program:
        """Make its program, with memory and the indexes of `shared` collections in its folder of a run."""
        indexes = Indexes(place / "indexes" if place else None, shared)
        return self.open_over(indexes, runtime, workload, place / "memory.sqlite" if place else None)

    def open_over(self, indexes: Indexes, runtime: Runtime, workload: str, memory: Path | None = None) -> Program:
        """Make its program over indexes that somebody else keeps."""
        program = open_method(self.name, replace(runtime, settings=self.settings), workload, indexes, memory)
        if self.compiled is not None:
            self.compiled.load_into(program)
        return program
