"""The protocol that every method keeps: a query in, its record out."""

from __future__ import annotations

from typing import Protocol

from programs.record import QueryRecord
from programs.workloads.query import Query


class Method(Protocol):
    """Selects evidence with provenance, has the shared reader answer, and accounts for all of it."""

    @property
    def name(self) -> str:
        """The name that records and the command line use."""

    def run(self, query: Query) -> QueryRecord:
        """Answer one query. A failed query is a record that says so, not an exception."""
