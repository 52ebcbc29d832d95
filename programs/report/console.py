"""Records on a terminal. Everything from a document or a model is printed as inert text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from metrics.record import QueryRecord
from programs.report.visible import visible
from programs.state import Role, StateField
from programs.transcript import Commit

SNIPPET = 160
ROLE_COLOUR = {
    Role.PLANNER: "cyan",
    Role.NAVIGATOR: "magenta",
    Role.RETRIEVER: "green",
    Role.VERIFIER: "yellow",
    Role.SMP: "blue",
}


def snippet(text: str, length: int = SNIPPET) -> str:
    """Show the opening of a text on one line."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"


def print_states(record: QueryRecord, console: Console) -> None:
    """Print the states of a query as they were committed, one panel a commit."""
    for commit in record.states:
        console.print(commit_panel(commit))
    for rejection in record.rejections:
        body = Text(f"{rejection.reason.value}: {visible(rejection.detail)}", style="red")
        title = f"cycle {rejection.cycle} · {rejection.role.value} rejected"
        console.print(Panel(body, title=title, border_style="red"))


def commit_panel(commit: Commit) -> Panel:
    """Show one committed field."""
    colour = ROLE_COLOUR[commit.role]
    title = f"cycle {commit.cycle} · {commit.role.value} → {commit.field.value}"
    return Panel(commit_body(commit), title=title, title_align="left", border_style=colour)


def commit_body(commit: Commit) -> RenderableType:
    """Show a field's value the way a person would read it."""
    value = commit.value
    if isinstance(value, str):  # a free-form carrier's words
        return Text(visible(value))
    if commit.field is StateField.PLAN:
        targets = [Text(f"  {i}. {visible(target)}") for i, target in enumerate(value["targets"], start=1)]
        return Group(Text(visible(value["objective"])), *targets)
    if commit.field is StateField.PATH:
        return Text("\n".join(" → ".join(str(node) for node in trace) for trace in value))
    if commit.field is StateField.EVIDENCE:
        return Text("\n".join(f"{visible(r['evidence_id'])}  {snippet(r['text'], 90)}" for r in value))
    if commit.field is StateField.VERDICT:
        return Text(f"{value['label']}  {visible(value['justification'])}")
    return Text(", ".join(visible(item) for item in value) or "none")


def results_table(rows: Iterable[tuple[QueryRecord, Sequence[str], bool, float]]) -> Table:
    """Tabulate many queries: record, reference answers, whether it is right, and its source recall."""
    table = Table("question", "answer", "expected", title="All questions")
    for column in ("right", "action", "evidence", "tokens", "seconds"):
        table.add_column(column, justify="right")
    for record, references, right, recall in rows:
        total = record.tokens.reader + record.tokens.aux + record.tokens.index
        table.add_row(
            Text(visible(record.question)),
            Text(snippet(record.answer, 60)),
            Text(visible(references[0])),
            Text("yes", style="green") if right else Text("no", style="red"),
            f"{record.action.value if record.action else '⊥'}×{record.cycles}",
            f"{recall:.0%}",
            str(total),
            f"{record.latency.index + record.latency.online:.1f}",
        )
    return table
