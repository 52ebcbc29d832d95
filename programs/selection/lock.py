"""A lock: the compiled programs of a folder, frozen together, so that what is evaluated is what was selected.

Everything that a lock says follows from the files, so reading one makes it anew and compares: a lock that was changed
by hand is noticed even where its digest was put right. It holds no time, so the same files have the same lock.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, ValidationError

from programs.content_key import content_key
from programs.errors import InputError
from programs.json_file import faults, read_whole, shortened
from programs.models.identity import ModelIdentity
from programs.selection.compiled import Choice, Compiled, CompiledFile, CompiledPart, read_file, write_sorted
from programs.workloads.hashes import SeenHashes

LOCK = "lock.json"
T = TypeVar("T")


class Lock(CompiledPart):
    """What was frozen."""

    version: Literal[1] = 1
    preset: str
    development: str = Field(description="digest of the development questions that the programs were chosen on")
    files: dict[str, str] = Field(description="sha256 by name")
    models: tuple[ModelIdentity, ...]
    budgets: dict[str, int] = Field(description="trials that were spent on each method")
    questions: dict[str, int] = Field(description="development questions that each method was chosen on")
    unequal: bool = Field(description="whether some method had other trials or other questions than another")
    seen: SeenHashes
    digest: str = Field(description="a name of all the rest")


def read_programs(folder: Path, names: Iterable[str] | None = None) -> dict[str, CompiledFile]:
    """Read the compiled programs of a folder, all of them or those of these names."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name one that holds compiled programs")
    found = (path.name for path in folder.glob("*.json") if path.name != LOCK and not path.name.startswith("."))
    return {name: _named(folder / name) for name in sorted(found if names is None else names)}


def freeze(folder: Path, programs: Mapping[str, CompiledFile], unequal: bool) -> Lock:
    """Check that programs were selected together and honestly, and give their lock."""
    if not programs:
        raise InputError(f"{folder}: holds no compiled program; write one with python -m optimize.parameters --out")
    choices = {name: _choice(folder / name, file.compiled) for name, file in programs.items()}
    preset = _one(folder, "preset", {name: file.compiled.preset for name, file in programs.items()})
    models = _one(folder, "models", {name: choice.models for name, choice in choices.items()}, _model_names)
    trials = {name: choice.spent.trials for name, choice in choices.items()}
    developments = {name: choice.development for name, choice in choices.items()}
    if not unequal:
        _one(folder, "trials", trials, advice="give each the same number, or lock them as they are by --unequal")
        _one(folder, "development", developments, advice="choose on the same, or lock them as they are by --unequal")
    lock = Lock(
        preset=preset,
        development=_together(developments.values()),
        files={name: file.sha256 for name, file in programs.items()},
        models=models,
        budgets={file.compiled.method: trials[name] for name, file in programs.items()},
        questions={file.compiled.method: _asked(choices[name]) for name, file in programs.items()},
        unequal=len(set(trials.values())) > 1 or len(set(developments.values())) > 1,
        seen=reduce(SeenHashes.merge, (choice.seen for choice in choices.values())),
        digest="",
    )
    return lock.model_copy(update={"digest": content_key(lock.model_dump_json(exclude={"digest"}))})


def write_lock(folder: Path, lock: Lock) -> None:
    """Write a lock into its folder."""
    write_sorted(folder / LOCK, lock)


def read_lock(folder: Path) -> tuple[Lock, dict[str, CompiledFile]]:
    """Read a lock and its programs, and refuse either where it is not what was locked."""
    path = folder / LOCK
    remedy = f"lock the folder again: python -m optimize.lock {folder}"
    if not os.path.exists(path):
        raise InputError(f"{folder}: not locked; lock it first: python -m optimize.lock {folder}")
    try:
        lock = Lock.model_validate_json(read_whole(path, remedy))
    except ValidationError as error:
        raise InputError(f"{path}: not a lock ({faults(error)}); {remedy}") from error
    changed = [name for name, sha256 in lock.files.items() if _sha256(folder, name) != sha256]
    if changed:
        raise InputError(
            f"{folder}: {shortened(', '.join(changed))} changed since it was locked; put back what was locked, or "
            f"lock the folder again: python -m optimize.lock {folder}"
        )
    programs = read_programs(folder, lock.files)
    if freeze(folder, programs, lock.unequal) != lock:
        raise InputError(
            f"{path}: does not say what its files say, so it was changed by hand; lock the folder again: "
            f"python -m optimize.lock {folder}"
        )
    return lock, programs


def _named(path: Path) -> CompiledFile:
    """Read a file that is called after its method, as those that look for one will."""
    file = read_file(path)
    if path.name != f"{file.compiled.method}.json":
        raise InputError(f"{path}: compiled for {file.compiled.method}; call it {file.compiled.method}.json")
    return file


def _sha256(folder: Path, name: str) -> str | None:
    path = folder / name
    is_here = path.name == name and path.is_file()
    return hashlib.sha256(read_whole(path, "lock the folder again")).hexdigest() if is_here else None


def _choice(path: Path, compiled: Compiled) -> Choice:
    """Take how a program was chosen, if that says which questions it was chosen on."""
    choice = compiled.choice
    if choice is None:
        raise InputError(f"{path}: does not say how it was chosen, so not what it saw; write it with optimize")
    asked = _asked(choice)
    if len(choice.seen.questions) < asked or not choice.seen.sources:
        raise InputError(
            f"{path}: chosen on {asked} questions, but `seen` names {len(choice.seen.questions)} of them and "
            f"{len(choice.seen.sources)} sources; it was changed by hand: write it with optimize again"
        )
    return choice


def _asked(choice: Choice) -> int:
    return choice.train + choice.validation


def _together(developments: Iterable[str]) -> str:
    """Name what the programs were chosen on: by the one digest that all have, or by all of them."""
    first, *others = sorted(set(developments))
    return content_key(first, *others) if others else first


def _one(
    folder: Path, what: str, values: Mapping[str, T], show: Callable[[T], str] = str, advice: str = "choose all alike"
) -> T:
    """Give the value that all files have."""
    first, *others = values.values()
    if any(other != first for other in others):
        listed = ", ".join(f"{name}: {show(value)}" for name, value in values.items())
        raise InputError(f"{folder}: the compiled programs differ in their {what} ({listed}); {advice}")
    return first


def _model_names(models: tuple[ModelIdentity, ...]) -> str:
    return " + ".join(map(str, models))
