"""The protocols of memory: a pool for a workload, what a query sees of it, and a role's own door to that."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from metrics.record import Refusal
from programs.documents.collection import Collection
from programs.memory.artifacts import Kind, MemoryScope, Payload
from programs.models.encoders.encoder import Vectors
from programs.state import Action, Role


class Recollection(Protocol):
    """A role's own door to SMP. It is bound to the role, so the role can't ask as another."""

    def recall_many(self, kind: Kind, keys: Sequence[str]) -> dict[str, Payload]:
        """Read payloads of global artifacts by content key; one permitted read."""

    def similar_plans(self) -> list[Payload]:
        """Read the plans of earlier, similar queries; one permitted read, the Planner's alone."""

    def offer(
        self, kind: Kind, key: str, payload: Payload, provenance: Sequence[str], scope: MemoryScope
    ) -> str | None:
        """Offer an artifact to a scope; it is transient until the controller has chosen an action."""


class Memory(Protocol):
    """Memory as one query sees it. The controller holds it; a role gets a `Recollection` and nothing more."""

    refusals: list[Refusal]

    @property
    def reads(self) -> int:
        """Permitted reads of the global store."""

    @property
    def hits(self) -> int:
        """Those of them that returned at least one eligible artifact."""

    def handle(self, role: Role) -> Recollection:
        """Give a role its own door."""

    def resolve(self) -> tuple[str, ...]:
        """Give U."""

    def readable(self, name: str) -> bool:
        """Tell whether an id is in a scope that this query may read, as a value of U must be."""

    def persist(self, action: Action | None) -> tuple[str, ...]:
        """Keep what a cycle offered, once its action was chosen; None is for a cycle that failed."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None: ...


class MemoryPool(Protocol):
    """The memory of a workload."""

    @property
    def ordered(self) -> bool:
        """Whether memory passes from a query to the next, so that they must run one after another."""

    def open(
        self, query_id: str, position: int, text: str, collection: Collection, vector: Vectors | None = None
    ) -> Memory:
        """Begin the query at a position of the query order, asked of a collection."""

    def rewind(self, position: int) -> None:
        """Forget what the queries from a position on left."""

    def close(self) -> None:
        """Close what it holds open."""
