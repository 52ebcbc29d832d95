"""Which compiled program a command runs a method with, and the line in which it says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from programs.commands.terminal import err
from programs.errors import InputError
from programs.methods.compiled import Compiled, read_compiled, shipped
from programs.methods.contender import Contender
from programs.settings import Settings, load_settings

NONE = Path("none")


@dataclass(frozen=True)
class Chosen:
    """A method with what it runs with, where that came from, and what there is to say of it."""

    contender: Contender
    file: Path | None = None
    note: str | None = None


def choose(method: str, preset: str, overrides: Sequence[str], given: Path | None) -> Chosen:
    """Settle what a method runs with: preset, then compiled parameters, then --set.

    Without a word from the user it is the compiled program that ships with the preset, if there is one. Thresholds
    belong to an encoder and prompts to a model (D6), so with other models that one is left out; one that the user
    names is refused.
    """
    file = shipped(preset, method) if given is None else given
    if file is None or file == NONE:
        return Chosen(Contender(method, load_settings(preset, overrides)))
    compiled = read_compiled(file, method)
    settings = load_settings(preset, [*compiled.overrides, *overrides])
    others = compiled.choice.unlike(settings) if compiled.choice else []
    if given is None:
        if others:
            note = f"what is compiled for {preset} is left out, since it was chosen with other models: {others[0]}"
            return Chosen(Contender(method, load_settings(preset, overrides)), note=note)
        return Chosen(Contender(method, settings, compiled), file, f"{_origin(compiled)}; --compiled none runs without")
    _must_fit(file, compiled, settings, others)
    return Chosen(Contender(method, settings, compiled), file)


def say(chosen: Sequence[Chosen]) -> None:
    """Say what was taken or left out without being asked for, in a line for all methods of which the same is true."""
    missing = f"nothing is compiled for {chosen[0].contender.settings.preset}"
    some_ship = any(item.note for item in chosen)
    lines: dict[str, list[str]] = {}
    for item in chosen:
        note = item.note or (missing if some_ship and item.file is None else None)
        if note:
            lines.setdefault(note, []).append(item.contender.name)
    for note, methods in lines.items():
        err.print(Text(f"{', '.join(methods)}: {note}"), soft_wrap=True)


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
