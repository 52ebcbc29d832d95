"""What is wrong with a setting, in words for whoever gave it: which numbers it takes, or which one was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

LIKE = 120.0
"""Likeness, of 200, from which a setting may be the one that was meant."""


def explained(error: ValidationError, tree: type[BaseModel]) -> str:
    """Explain the first fault of settings that are not of this tree."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return no_such_setting(tree, ".".join([where, *_first_keys(first["input"])]))
    told = allowed(tree, first["loc"]) or first["msg"]
    return f"setting {where!r}: {told} (got {first.get('input')!r:.80})"


def _first_keys(value: Any) -> list[str]:
    """Follow an unknown branch down to the setting that was asked for in it."""
    if not isinstance(value, dict) or not value:
        return []
    key, inner = next(iter(value.items()))
    return [str(key), *_first_keys(inner)]


def numbers(tree: type[BaseModel]) -> dict[str, tuple[type, Sequence[Any]]]:
    """List the settings that are numbers, by dotted name: of which type, and within which bounds."""
    found: dict[str, tuple[type, Sequence[Any]]] = {}
    for name, field in tree.model_fields.items():
        kind, bounds = field.annotation, field.metadata
        if get_origin(kind) is dict:
            name, (kind, *bounds) = f"{name}.*", get_args(get_args(kind)[1])
            bounds = [bound for info in bounds for bound in info.metadata]
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= {f"{name}.{inner}": told for inner, told in numbers(kind).items()}
        for number in (int, float):
            if kind is number or number in get_args(kind):
                found[name] = (number, bounds)
    return found


def allowed(tree: type[BaseModel], place: Sequence[int | str]) -> str | None:
    """Say which numbers a setting takes, if it takes numbers."""
    known = numbers(tree)
    branch = ".".join(str(part) for part in place[:-1])
    kind, bounds = known.get(".".join(str(part) for part in place)) or known.get(f"{branch}.*") or (None, ())
    if kind is None:
        return None
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    said = [
        f"{word} {getattr(bound, name)}" for name, word in words.items() for bound in bounds if hasattr(bound, name)
    ]
    return f"takes a {'whole number' if kind is int else 'number'} {' '.join(said)}"


def no_such_setting(tree: type[BaseModel], key: str) -> str:
    """Say that there is no such setting, and which one may have been meant."""
    from rapidfuzz import fuzz

    def likeness(name: str) -> float:
        mine, other = key.rpartition(".")[2], name.rpartition(".")[2]
        return float(fuzz.ratio(key, name) + fuzz.ratio(mine, other))

    nearest = max(setting_names(tree), key=likeness)
    meant = f"did you mean {nearest!r}?" if likeness(nearest) >= LIKE else "the command `settings` prints all"
    return f"there is no setting {key!r}; {meant}"


def setting_names(tree: type[BaseModel]) -> list[str]:
    """List the settings by dotted name."""
    found: list[str] = []
    for name, field in tree.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += [f"{name}.{inner}" for inner in setting_names(kind)]
        else:
            found.append(name)
    return found
