"""What the carriers without a contract have in common: a state of what was proposed, replaced as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Generic, TypeVar

from programs.state import PENDING, Proposed

ProposedT = TypeVar("ProposedT", bound=Proposed)


class ProposedCarrier(Generic[ProposedT]):
    """A carrier but for `commit`."""

    def __init__(self, opened: ProposedT) -> None:
        self._state = opened

    @property
    def state(self) -> ProposedT:
        """The latest state."""
        return self._state

    def open_cycle(self) -> None:
        """Stage z ← PENDING, which forgets the verdict and nothing that was said of it."""
        self._state = replace(self._state, verdict=PENDING)
