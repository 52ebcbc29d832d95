"""Who may do what in which scope. The table is the whole policy: an operation that it does not grant is refused."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from metrics.record import Refusal
from programs.memory.artifacts import Kind, MemoryScope
from programs.state import Role


class Operation(StrEnum):
    """What a role may ask of memory."""

    READ = "read"
    WRITE = "write"


_READ = frozenset({Operation.READ})
_BOTH = frozenset({Operation.READ, Operation.WRITE})

TABLE: Mapping[tuple[Role, MemoryScope, Kind], frozenset[Operation]] = MappingProxyType(
    {
        (Role.PLANNER, MemoryScope.GLOBAL, Kind.PLAN): _BOTH,
        (Role.PLANNER, MemoryScope.QUERY, Kind.JUSTIFICATION): _READ,
        (Role.PLANNER, MemoryScope.PRIVATE, Kind.PLAN): _BOTH,
        (Role.NAVIGATOR, MemoryScope.GLOBAL, Kind.ABSTRACTION): _BOTH,
        (Role.NAVIGATOR, MemoryScope.GLOBAL, Kind.TRACE_SCORE): _BOTH,
        (Role.NAVIGATOR, MemoryScope.QUERY, Kind.ABSTRACTION): _BOTH,
        (Role.NAVIGATOR, MemoryScope.QUERY, Kind.TRACE_SCORE): _BOTH,
        (Role.NAVIGATOR, MemoryScope.PRIVATE, Kind.ABSTRACTION): _BOTH,
        (Role.NAVIGATOR, MemoryScope.PRIVATE, Kind.TRACE_SCORE): _BOTH,
        (Role.RETRIEVER, MemoryScope.QUERY, Kind.SELECTION): _BOTH,
        (Role.RETRIEVER, MemoryScope.PRIVATE, Kind.SELECTION): _BOTH,
        (Role.VERIFIER, MemoryScope.QUERY, Kind.JUSTIFICATION): _BOTH,
        (Role.VERIFIER, MemoryScope.QUERY, Kind.SELECTION): _READ,
        (Role.VERIFIER, MemoryScope.PRIVATE, Kind.JUSTIFICATION): _BOTH,
    }
)
"""A private grant is for the role's own store. SMP has no row: it resolves identifiers and asks for nothing."""


class RefusalReason(StrEnum):
    """Which condition of an operation did not hold."""

    NO_GRANT = "no_grant"
    OTHER_QUERY = "other_query"
    OTHER_OWNER = "other_owner"
    AFTER_TERMINAL = "after_terminal"
    """A write after the terminal action: by then only the reader works, and its output is never kept."""
    QUERY_ENDED = "query_ended"


class NotPermitted(Exception):
    """A refused operation. It reads nothing, writes nothing and counts as no access."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(
            f"the {refusal.role} may not {refusal.operation} a {refusal.kind} artifact"
            f" in the {refusal.scope} scope ({refusal.reason})"
        )
        self.refusal = refusal


def objection(
    role: Role,
    operation: Operation,
    scope: MemoryScope,
    kind: Kind,
    *,
    query: str,
    of_query: str | None,
    owner: Role | None,
) -> RefusalReason | None:
    """Say what forbids an operation of `role` in `query` on a store of `of_query` and, if private, of `owner`."""
    if operation not in TABLE.get((role, scope, kind), frozenset()):
        return RefusalReason.NO_GRANT
    if scope is not MemoryScope.GLOBAL and of_query != query:
        return RefusalReason.OTHER_QUERY
    if scope is MemoryScope.PRIVATE and owner is not role:
        return RefusalReason.OTHER_OWNER
    return None
