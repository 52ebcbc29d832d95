"""Who asked a model how often, for how many tokens and for how long: a query's calls, by phase and role."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.record import Phase, QueryRecord

PARTS = ("calls", "tokens", "seconds")


class WorkStep(NamedTuple):
    """A role in a phase. One role may work in two, as what builds an index and what searches it are."""

    phase: Phase
    role: str


@dataclass(frozen=True)
class WorkSpent:
    """What one step took, one value a query."""

    calls: NDArray[np.float64]
    tokens: NDArray[np.float64]
    seconds: NDArray[np.float64]

    def of(self, rows: list[int]) -> WorkSpent:
        """Keep some queries."""
        return WorkSpent(self.calls[rows], self.tokens[rows], self.seconds[rows])


class WorkColumns:
    """The work of a run's queries while their records come in."""

    def __init__(self) -> None:
        self._queries = 0
        self._columns: dict[WorkStep, dict[str, array[float]]] = {}

    def add(self, record: QueryRecord) -> None:
        """Add a query's calls to its own row; a step that it has none of took nothing."""
        self._queries += 1
        for call in record.calls:
            columns = self._columns.setdefault(WorkStep(call.phase, call.role), {part: array("d") for part in PARTS})
            for part, value in zip(PARTS, (1, call.tokens, call.seconds), strict=True):
                self._fill(columns[part])
                columns[part][-1] += value

    def spent(self) -> Mapping[WorkStep, WorkSpent]:
        """Give each step's columns, in the order of the phases and then of the steps' names."""
        for columns in self._columns.values():
            for column in columns.values():
                self._fill(column)
        order = sorted(self._columns, key=lambda step: (-list(Phase).index(step.phase), step.role))
        return {step: WorkSpent(**{part: np.array(self._columns[step][part]) for part in PARTS}) for step in order}

    def _fill(self, column: array[float]) -> None:
        column.extend([0.0] * (self._queries - len(column)))
