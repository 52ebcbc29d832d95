"""Why queries of a run stayed incomplete: the commonest reason of each method, with the first query that has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from metrics.record import QueryRecord
from programs.report.console import snippet


@dataclass
class Incompletes:
    """The incomplete queries of one method, by their reasons."""

    queries: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    """By reason, the first query that has it, and what was said of it there."""

    def add(self, record: QueryRecord) -> None:
        """Count a query."""
        self.queries += 1
        if not record.is_complete:
            reason, said = reason_of(record)
            self.reasons[reason] += 1
            self.first.setdefault(reason, f"{record.query_id}: {said}" if said else record.query_id)

    def line(self, method: str) -> str:
        """Say in a line how many there are, and what most of them have in common."""
        [(reason, count)] = self.reasons.most_common(1)
        total = self.reasons.total()
        often = "" if len(self.reasons) == 1 else f"most often, {count} times, "
        return f"{method}: {total} of {self.queries} queries incomplete, {often}because {reason}; {self.first[reason]}"


def reason_of(record: QueryRecord) -> tuple[str, str]:
    """Give why a query is incomplete in words that other queries have in common with it, and its own beside them."""
    if record.rejections:
        last = record.rejections[-1]
        return f"the {last.role.value}'s {last.field.value} was rejected ({last.reason.value})", snippet(last.detail)
    kind, colon, said = (record.error or "nothing was recorded").partition(": ")
    return (f"of {kind}", snippet(said)) if colon else (snippet(kind), "")


def incomplete_lines(records: Iterable[QueryRecord]) -> list[str]:
    """Give a line for each method that has incomplete queries."""
    methods: dict[str, Incompletes] = {}
    for record in records:
        methods.setdefault(record.method, Incompletes()).add(record)
    return [snippet(found.line(method), 400) for method, found in methods.items() if found.reasons]
