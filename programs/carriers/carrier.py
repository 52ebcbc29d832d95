"""The protocol of a carrier. The typed one is the contract; a free-form one stands in for it in the carrier control."""

from __future__ import annotations

from typing import Any, Protocol

from programs.contract import Rejection
from programs.state import Role, State


class Carrier(Protocol):
    """Holds the state of one query. The controller writes through it; roles only ever see `state`."""

    @property
    def state(self) -> State:
        """The latest staged or committed state."""

    def open_cycle(self) -> None:
        """Stage z ← PENDING."""

    def commit(self, role: Role, value: Any, cycle: int) -> Rejection | None:
        """Take a role's value for its own field, or say why not and leave the state as it was."""
