"""The protocol that every method keeps: a query in, its record out."""

from __future__ import annotations

from typing import Protocol

from metrics.record import QueryRecord
from programs.workloads.query import Query


class Method(Protocol):
    """Selects evidence with provenance, has the shared reader answer, and accounts for all of it."""

    @property
    def name(self) -> str:
        """The name that records and the command line use."""

    @property
    def ordered(self) -> bool:
        """Whether a query's record depends on the queries before it, so that they must run one after another."""

    def run(self, query: Query) -> QueryRecord:
        """Answer one query. A failed query is a record that says so, not an exception."""

    def resume(self, done: frozenset[int]) -> None:
        """Keep only what the queries at these positions left: the others will run again. Empty is a fresh start."""
