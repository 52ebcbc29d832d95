"""The JSON objects that metrics read: a query's record, its admitted evidence, its calls, and its reference.

They are mappings as a run folder holds them, not the types that wrote them, so records can be scored without the
program that made them. `programs/record.schema.json` says which keys a record has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
"""One query, as a method left it."""

Reference = Mapping[str, Any]
"""What a query is scored against."""

Evidence = Sequence[Mapping[str, Any]]
"""Admitted evidence records, in the reader's order."""

Calls = Sequence[Mapping[str, Any]]
"""The model calls of one query, in order."""


def is_complete(record: Record) -> bool:
    """Tell whether the query reached its answer; one that did not scores 0 in every quality metric."""
    return bool(record["status"] == "completed")
