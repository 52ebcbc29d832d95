"""The free-form shared carrier: one trajectory that every role appends its text to, in place of the typed fields.

Nothing is owned and nothing is validated. A text must say something, and where a tool needs an argument, an identifier
or a verdict out of it, the role has read that out already: it is handed over as `Said.found`, for the tools alone.
What a role is shown of the query so far is `Trajectory.text`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from metrics.record import Commit
from programs.carriers.proposed import ProposedCarrier
from programs.contract import Fault, Reason, Rejection, rejected
from programs.state import OWNED_FIELD, Proposed, Role, plain


@dataclass(frozen=True)
class Said:
    """A role's text, and what was read out of it for the tools: a search, traces, records or a verdict."""

    text: str
    found: Any


@dataclass(frozen=True)
class Entry:
    """A text of the trajectory, and whose it is."""

    role: Role
    cycle: int
    text: str


@dataclass(frozen=True)
class Trajectory(Proposed):
    """The shared text, oldest first. The five fields beside it are what tools were given; no prompt shows them."""

    entries: tuple[Entry, ...] = ()

    @property
    def text(self) -> str:
        """The trajectory as every role reads it."""
        return "\n\n".join(f"{entry.role.value.capitalize()} ({entry.cycle}): {entry.text}" for entry in self.entries)


class FreeFormCarrier(ProposedCarrier[Trajectory]):
    """A trajectory that only grows."""

    def __init__(self) -> None:
        super().__init__(Trajectory())

    def commit(self, role: Role, value: Any, cycle: int) -> tuple[Commit, ...] | Rejection:
        """Append a text. SMP says nothing: the identifiers that it resolves are kept beside the trajectory."""
        field = OWNED_FIELD[role]
        if role is Role.SMP:
            self._state = replace(self._state, artifacts=value)
            return (Commit(cycle=cycle, role=role, field=field, value=plain(value)),)
        if type(value) is not Said or type(value.text) is not str or not value.text.strip():
            return rejected(
                role, field, cycle, Fault(Reason.MALFORMED, "a text that says something was expected"), value
            )
        entry = Entry(role, cycle, value.text)
        self._state = replace(self._state, entries=(*self._state.entries, entry), **{field.value: value.found})
        return (Commit(cycle=cycle, role=role, field=field, value=value.text),)
