"""What a method says of itself: its label, settings and search space stand in its own folder and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from programs.errors import InputError
from programs.frozen import Frozen
from programs.methods.space import SHARED, Parameter

if TYPE_CHECKING:
    from programs.methods.base import Program

LAST = 100


@dataclass(frozen=True)
class MethodSpec:
    """A method before it is loaded: describing itself must not cost the libraries that running it takes."""

    name: str
    """As the command line, records and compiled files have it."""
    label: str
    """As tables and figures print it."""
    program: str
    """`module:Class`, a `Program`; imported when the method runs."""
    settings: type[Frozen] | None = None
    """Its branch of the settings tree, which is called like the method, with underscores."""
    space: tuple[Parameter, ...] = ()
    """What a search may vary."""
    fixed: tuple[Parameter, ...] = ()
    """What a search does not vary and may be told to keep at a value. No model, address or path is ever among these."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Libraries that are not installed unless asked for, and the pip requirement that brings each."""
    place: int = LAST
    """Where it stands in lists. Those without a place follow, by name."""
    printed: int = LAST
    """Where it stands in tables, if they have another order than lists: the paper's."""
    base: str | None = None
    """The method that this one is a variant of, where it is one: it runs with what is compiled for that one."""
    removed: str = ""
    """The component of its base that it does without, as tables of ablations call it."""
    carrier: str = ""
    """What carries its state, as tables of the carrier control call it; empty where it is no side of that control."""
    contract: tuple[str, ...] = ()
    """The elements of the contract that it keeps, as their table calls them; none where it is not in that table."""

    @property
    def compiled_as(self) -> str:
        """The method whose compiled program it runs with. A variant has none of its own, or more would differ."""
        return self.base or self.name

    @property
    def branch(self) -> str:
        """The key of its settings."""
        return self.name.replace("-", "_")

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """All that a compiled program may set."""
        return (*SHARED, *self.space, *self.fixed)

    def load(self) -> type[Program]:
        """Import the program. A library that is missing is an `InputError` that says how to get it."""
        for library, requirement in self.needs.items():
            if find_spec(library) is None:
                raise InputError(f"{self.name} needs {library}: pip install '{requirement}'")
        module, _, attribute = self.program.partition(":")
        found: type[Program] = getattr(import_module(module), attribute)
        return found
