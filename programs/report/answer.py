"""An answer as a person reads it: what can be said of it, the sentences that it rests on, then how it came about."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from metrics.record import Action, EvidenceRecord, QueryRecord, Quote, SupportStatus
from programs.report.console import snippet
from programs.report.visible import visible

ENDINGS = {
    Action.RELEASE: "enough was found",
    Action.FALLBACK: "not enough was found, so this is the best guess",
    Action.BYPASS: "the documents are short enough to be read whole",
}
"""What the controller's last choice means."""
LONGEST = 400
"""Characters of a sentence that are shown."""


def print_answer(
    record: QueryRecord,
    console: Console,
    sources: Mapping[str, str],
    *,
    full: bool = False,
    verbose: bool = False,
    best_guess: bool = False,
) -> None:
    """Print an answer. `full` shows every record that was read, `verbose` also what it cost.

    What was not found is said first; `best_guess` prints the answer all the same.
    """
    console.print(Text.assemble(("Question  ", "dim"), visible(record.question)))
    if not record.is_complete:
        console.print(Text.assemble(("No answer  ", "bold red"), why(record)))
    elif is_not_found(record) and not best_guess:
        print_not_found(record, console, sources)
    else:
        print_found(record, console, sources)
    if record.action is not None:
        console.print(Text(f"{action_line(record)}: {ENDINGS[record.action]}", style="dim"))
    print_records(record, console, sources, full, verbose)
    if verbose:
        console.print(Text(cost_line(record), style="dim"))


def is_not_found(record: QueryRecord) -> bool:
    """Tell whether the evidence was judged not to answer the question."""
    return record.support is not None and record.support.status is SupportStatus.NOT_FOUND


def print_not_found(record: QueryRecord, console: Console, sources: Mapping[str, str]) -> None:
    """Say that the documents do not say it, and show what comes nearest."""
    assert record.support is not None
    missing = ", ".join(visible(name) for name in record.support.missing)
    about = f"nothing about {missing}" if missing else "nothing that answers this"
    console.print(Text(f"Not found in these documents: {about}", style="bold yellow"))
    if record.support.quotes:
        console.print(Text("What comes nearest:", style="dim"))
    print_quotes(record.support.quotes, console, sources, "")
    console.print(Text(f"A guess would be: {snippet(record.answer) or '(nothing)'} (--best-guess)", style="dim"))


def print_found(record: QueryRecord, console: Console, sources: Mapping[str, str]) -> None:
    """Give the answer, and the sentences that it rests on."""
    answer = visible(record.answer) or "(empty)"
    console.print(Text.assemble(("Answer    ", "dim"), (answer, "bold green")))
    support = record.support
    if support is None:
        return
    if support.status is SupportStatus.SUPPORTED:
        console.print(Text("It rests on:", style="dim"))
    elif support.status is SupportStatus.UNSUPPORTED:
        console.print(Text("Unsupported: no sentence holds this answer. What comes nearest:", style="yellow"))
    else:
        console.print(Text("A guess: these documents do not seem to say it. What comes nearest:", style="yellow"))
    if support.status is SupportStatus.SUPPORTED and support.cited is False:
        console.print(Text("  (not in what the reader said that it rests on)", style="yellow"))
    print_quotes(support.quotes, console, sources, record.answer)


def print_quotes(quotes: tuple[Quote, ...], console: Console, sources: Mapping[str, str], answer: str) -> None:
    """Show sentences where they stand, with the answer marked in them."""
    for quote in quotes:
        console.print(Text(f"  {place(quote.source_id, quote.start, quote.end, sources)}", style="cyan"))
        sentence = snippet(sources.get(quote.source_id, "")[quote.start : quote.end], LONGEST)
        console.print(Padding(marked(sentence, answer), (0, 0, 0, 4)))


def marked(sentence: str, answer: str) -> Text:
    """Mark an answer wherever it stands in a sentence."""
    text = Text(sentence)
    if answer.strip():
        text.highlight_regex(re.compile(re.escape(" ".join(visible(answer).split())), re.IGNORECASE), "bold green")
    return text


def print_records(record: QueryRecord, console: Console, sources: Mapping[str, str], full: bool, verbose: bool) -> None:
    """List what was read: all of it, or what no sentence above is of folded into a count."""
    quoted = {quote.evidence_id for quote in record.support.quotes} if record.support else set()
    folded = [item for item in record.evidence if not full and record.support and item.evidence_id not in quoted]
    listed = record.evidence if full or not record.support else []
    for number, item in enumerate(listed, start=1):
        console.print(Text(f"[{number}] {place(item.source_id, item.start, item.end, sources)}", style="cyan"))
        shown = visible(item.text) if full else snippet(item.text)
        console.print(Padding(Text(shown), (0, 0, 0, 4)))
        if verbose:
            console.print(Padding(Text(_origin(item), style="dim"), (0, 0, 0, 4)))
    if folded:
        rest = f"{len(folded)} more record{'s were' if len(folded) > 1 else ' was'} read"
        console.print(Text(f"{rest}; --full shows everything", style="dim"))


def place(source_id: str, start: int, end: int, sources: Mapping[str, str]) -> str:
    """Say where characters stand: the file, its line, and the offsets."""
    text = sources.get(source_id)
    line = "" if text is None else f", line {text.count(chr(10), 0, start) + 1}"
    return f"{visible(source_id)}{line} (characters {start}–{end})"


def why(record: QueryRecord) -> str:
    """Say in a line why a query is incomplete."""
    if record.rejections:
        last = record.rejections[-1]
        what = f"the {last.role.value}'s {last.field.value} was rejected in cycle {last.cycle}"
        return f"{what} ({last.reason.value}): {visible(last.detail)}"
    return visible(record.error or "no reason was recorded")


def action_line(record: QueryRecord) -> str:
    """Say how retrieval ended."""
    cycles = f"{record.cycles} cycle{'s' if record.cycles != 1 else ''}"
    return f"{record.action.value if record.action else '⊥'} after {cycles}"


def cost_line(record: QueryRecord) -> str:
    """Sum up tokens and seconds."""
    tokens = record.tokens
    weighed = "not known" if record.ret.tokens is None else f"{record.ret.tokens:.0f}"
    return (
        f"{len(record.calls)} model calls; tokens: {tokens.reader} reader, {tokens.aux} roles, {tokens.index} index; "
        f"RET {weighed}; {record.encoder_tokens} encoder tokens; "
        f"{record.latency.index:.1f} s index + {record.latency.online:.1f} s online"
    )


def _origin(item: EvidenceRecord) -> str:
    return f"{visible(item.evidence_id)}, committed in cycle {item.cycle}"
