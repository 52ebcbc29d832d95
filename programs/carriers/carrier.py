"""The protocol of a carrier. The typed one is the contract; the others stand in for it in the carrier control."""

from __future__ import annotations

from typing import Any, Protocol

from metrics.record import Commit
from programs.contract import Rejection
from programs.state import Readable, Role


class Carrier(Protocol):
    """Holds the state of one query. The controller writes through it; roles only ever see `state`."""

    @property
    def state(self) -> Readable:
        """The latest staged or committed state."""

    def open_cycle(self) -> None:
        """Stage z ← PENDING."""

    def commit(self, role: Role, value: Any, cycle: int) -> tuple[Commit, ...] | Rejection:
        """Take a role's value and say what it wrote, or say why not and leave the state as it was."""
