"""Memory with SMP removed: there is no store, so nothing resolves, nothing is read and nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from metrics.record import Refusal
from programs.documents.collection import Collection
from programs.memory.artifacts import Kind, MemoryScope, Payload
from programs.models.encoders.encoder import Vectors
from programs.state import Action, Role


class NoPool:
    """The memory of a workload that has none."""

    ordered = False

    def open(
        self, query_id: str, position: int, text: str, collection: Collection, vector: Vectors | None = None
    ) -> NoMemory:
        """Begin a query, which finds nothing."""
        return NoMemory()

    def rewind(self, position: int) -> None:
        """Have nothing to forget."""

    def close(self) -> None:
        """Hold nothing open."""


class NoMemory:
    """A query's memory: U is empty, whatever happens."""

    reads = hits = 0

    def __init__(self) -> None:
        self.refusals: list[Refusal] = []

    def handle(self, role: Role) -> NoRecollection:
        """Give every role the same door, which leads nowhere."""
        return NoRecollection()

    def resolve(self) -> tuple[str, ...]:
        """Give an empty U."""
        return ()

    def readable(self, name: str) -> bool:
        """Know no id."""
        return False

    def persist(self, action: Action | None) -> tuple[str, ...]:
        """Keep nothing."""
        return ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pass


class NoRecollection:
    """A role's door. What is asked counts as no read and what is offered goes nowhere: neither is refused."""

    def recall_many(self, kind: Kind, keys: Sequence[str]) -> dict[str, Payload]:
        """Find nothing."""
        return {}

    def similar_plans(self) -> list[Payload]:
        """Know no plan."""
        return []

    def offer(
        self, kind: Kind, key: str, payload: Payload, provenance: Sequence[str], scope: MemoryScope
    ) -> str | None:
        """Keep nothing."""
        return None
