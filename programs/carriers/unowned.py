"""A typed carrier without owners: what a role gives is written, to its own field and to others', if its type fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from metrics.record import Commit
from programs.carriers.proposed import ProposedCarrier
from programs.contract import Fault, FieldTypes, Rejection, rejected
from programs.state import OWNED_FIELD, Proposed, Role, StateField, plain


@dataclass(frozen=True)
class Writes:
    """What a role gives for its own field, and what it gives for others beside it."""

    own: Any
    others: Mapping[StateField, Any]


class UnownedCarrier(ProposedCarrier[Proposed]):
    """The five fields, each held to its type and to nothing else. All that a role gives is written, or none of it."""

    def __init__(self, types: FieldTypes) -> None:
        super().__init__(Proposed())
        self._types = types

    def commit(self, role: Role, value: Any, cycle: int) -> tuple[Commit, ...] | Rejection:
        """Write what a role gives."""
        own = OWNED_FIELD[role]
        given: dict[StateField, Any] = {own: value}
        if type(value) is Writes:
            given = {own: value.own, **value.others}
        typed: dict[StateField, Any] = {}
        for field, offered in given.items():
            try:
                typed[field] = self._types.typed(field, offered)
            except Fault as fault:
                return rejected(role, field, cycle, fault, offered)
        self._state = replace(self._state, **{field.value: accepted for field, accepted in typed.items()})
        return tuple(
            Commit(cycle=cycle, role=role, field=field, value=plain(accepted)) for field, accepted in typed.items()
        )
