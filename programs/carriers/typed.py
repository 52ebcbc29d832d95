"""The typed, role-owned carrier: each value passes its field's validator before it is in the state."""

from __future__ import annotations

from typing import Any

from metrics.record import Commit
from programs.contract import FieldTypes, Rejection
from programs.state import OWNED_FIELD, Role, State, plain


class TypedCarrier:
    """A contract and the state that it last made. With `FieldTypes` alone, types and owners are all that it keeps."""

    def __init__(self, contract: FieldTypes) -> None:
        self._contract = contract
        self._state = State()

    @property
    def state(self) -> State:
        """The latest staged or committed state."""
        return self._state

    def open_cycle(self) -> None:
        """Stage z ← PENDING."""
        self._state = self._contract.open_cycle(self._state)

    def commit(self, role: Role, value: Any, cycle: int) -> tuple[Commit, ...] | Rejection:
        """Judge and commit; a rejection leaves the preceding state in place."""
        outcome = self._contract.commit(self._state, role, value, cycle)
        if isinstance(outcome, Rejection):
            return outcome
        self._state = outcome
        field = OWNED_FIELD[role]
        return (Commit(cycle=cycle, role=role, field=field, value=plain(getattr(outcome, field))),)
