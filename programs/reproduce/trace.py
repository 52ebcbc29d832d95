"""One query's states as they were committed: the paper's figure of a revision, from a run."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.console import Console

from metrics.record import QueryRecord
from programs.report.answer import action_line
from programs.report.console import print_states
from programs.report.table_formats import escape_markdown

WIDTH = 110


def telling(records: Iterable[QueryRecord]) -> QueryRecord | None:
    """Choose the query that shows most: one that was completed, after a revision, with the most commits."""
    best: QueryRecord | None = None
    for record in records:
        if record.states and (best is None or _rank(record) > _rank(best)):
            best = record
    return best


def trace_page(record: QueryRecord) -> str:
    """Show a query's states on a page."""
    text = StringIO()
    console = Console(file=text, width=WIDTH, force_terminal=False, markup=False, emoji=False, highlight=False)
    print_states(record, console)
    shown = text.getvalue().replace("```", "` ` `")
    return (
        f"# A query, state by state\n\n{escape_markdown(record.question)}\n\n"
        f"{record.workload}, {record.query_id}, {record.method}: {escape_markdown(action_line(record))}. "
        f"Answer: {escape_markdown(record.answer) or '(none)'}\n\n```\n{shown}```\n"
    )


def _rank(record: QueryRecord) -> tuple[bool, int, int]:
    return record.is_complete, record.cycles, len(record.states)
