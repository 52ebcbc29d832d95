"""A method as it will run: preset, then what was compiled for it, then the user's own settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from programs.errors import InputError
from programs.methods.base import Program
from programs.methods.indexes import Indexes
from programs.methods.registry import spec
from programs.models.runtime import Runtime
from programs.selection.compiled import Compiled, read_compiled, shipped
from programs.settings import Settings, load_settings

NONE = Path("none")


@dataclass(frozen=True)
class ConfiguredMethod:
    """A method with its settings and what was compiled for it.

    The models are lent to it when it is opened, so its settings may differ from theirs in all but models.
    """

    name: str
    settings: Settings
    compiled: Compiled | None = None
    file: Path | None = None
    """Where the compiled program was read."""
    note: str | None = None
    """What was taken or left out without being asked for."""

    def open(
        self, runtime: Runtime, workload: str = "ask", indexes: Indexes | None = None, memory: Path | None = None
    ) -> Program:
        """Make its program: the one way in, for a question, a run, a search and a test.

        Indexes may be shared with others who keep them. A method with memory between queries keeps it in the file
        `memory`, or in the process alone.
        """
        program = spec(self.name).load()(replace(runtime, settings=self.settings), workload, indexes, memory)
        if self.compiled is not None:
            self.compiled.load_into(program)
        return program


def configure(
    method: str, preset: str, overrides: Sequence[str] = (), compiled: Path | None = None
) -> ConfiguredMethod:
    """Settle what a method runs with.

    Without a word from the user it is the compiled program that ships with the preset, if there is one; the path
    `none` leaves it out. A variant runs with what is compiled for its base, so that nothing else differs.

    Thresholds belong to an encoder and prompts to a model, so with other models what ships is left out, and what the
    user names is refused.
    """
    compiled_as = spec(method).compiled_as
    file = shipped(preset, compiled_as) if compiled is None else compiled
    if file is None or file == NONE:
        return ConfiguredMethod(method, load_settings(preset, overrides))
    program = read_compiled(file, compiled_as, preset)
    settings = load_settings(preset, [*program.overrides, *overrides])
    others = program.choice.unlike(settings) if program.choice else []
    if compiled is not None:
        _must_fit(file, program, settings, others)
        return ConfiguredMethod(method, settings, program, file)
    if others:
        note = f"what is compiled for {preset} is left out, since it was chosen with other models: {others[0]}"
        return ConfiguredMethod(method, load_settings(preset, overrides), note=note)
    return ConfiguredMethod(method, settings, program, file, f"{_origin(program)}; --compiled none runs without")


def _origin(compiled: Compiled) -> str:
    if compiled.choice is None:
        return f"compiled for {compiled.preset}"
    asked = compiled.choice.train + compiled.choice.validation
    return f"compiled for {compiled.preset} on {asked} dev questions of {', '.join(compiled.choice.workloads)}"


def _must_fit(file: Path, compiled: Compiled, settings: Settings, others: Sequence[str]) -> None:
    if compiled.preset != settings.preset:
        raise InputError(
            f"{file}: {compiled.method} is compiled for the preset {compiled.preset}, not for {settings.preset}; "
            f"run it with --preset {compiled.preset}, or without by --compiled none"
        )
    if others:
        raise InputError(
            f"{file}: {compiled.method} was chosen with other models ({'; '.join(others)}); "
            "run it with those, or without by --compiled none"
        )
