"""Parts that are chosen by name in the settings: ours, and those that installed packages bring through entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from programs.errors import InputError

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """Parts of one kind by name. An entry point of `group` adds one: its name is the setting's value."""

    def __init__(self, what: str, group: str) -> None:
        self._what = what
        self._group = group
        self._parts: dict[str, Part] = {}

    def register(self, name: str) -> Callable[[Part], Part]:
        """Add the function or class below under a name."""

        def add(part: Part) -> Part:
            self._parts[name] = part
            return part

        return add

    def get(self, name: str) -> Part:
        """Find a part; packages are asked only for what is not ours. An unknown name is an `InputError`."""
        if name not in self._parts:
            brought = {point.name: point for point in entry_points(group=self._group)}
            if name not in brought:
                raise InputError(f"there is no {self._what} {name!r}; use one of {', '.join(self.names())}")
            self._parts[name] = brought[name].load()
        return self._parts[name]

    def names(self) -> list[str]:
        """Every name that may be asked for."""
        return list(dict.fromkeys([*self._parts, *(point.name for point in entry_points(group=self._group))]))
