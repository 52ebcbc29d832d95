"""The first page: what ran, what held and what did not, in words that come of the findings alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from programs.report.names import STATERAG, method_label, workload_label
from programs.report.published import published
from programs.report.results import Results
from programs.report.table_formats import escape_markdown, markdown
from programs.report.tables import COMPLETE, Cell, Column, Table, TableRow
from programs.reproduce.claims import BASELINES, PAPERS
from programs.reproduce.findings import Bearing, Judgement, Outcome, Passing
from programs.reproduce.studies import STUDIES
from programs.workloads.manifest import AnyManifest

TITLES = {
    Outcome.HELD: "What held",
    Outcome.BY_MEANS: "What the means say, and nothing shows",
    Outcome.FAILED: "What did not hold",
    Outcome.UNKNOWN: "What was not measured",
}
PICTURES = {
    "quality-latency": "Quality against latency",
    "components": "What the parts do",
    "evidence": "Evidence that was admitted",
    "differences": "StateRAG less what it is compared with",
    "funnel": "Where gold evidence is lost",
}
PASSES = "**A baseline passes StateRAG.**"
CONTROL_PASSES = "**A control passes StateRAG, and no baseline of the paper does.**"
NONE_PASSES = "No baseline has a better mean than StateRAG in any quality metric."


@dataclass(frozen=True)
class Account:
    """Everything that the first page tells."""

    manifest: AnyManifest
    scored: Sequence[ScoreTable]
    """Of the runs as they are set, without further ways of running."""
    findings: Sequence[Judgement]
    passing: Sequence[Passing]
    incomplete: Sequence[str]
    left_out: Mapping[str, str]
    missing: Sequence[str] = ()
    """Runs that are planned and not there."""
    files: Sequence[Path] = field(default=())
    """What was written beside the page."""


def first_page(account: Account) -> str:
    """Write the page."""
    parts = (
        _opening(account),
        _passing(account),
        *(_outcome(account, outcome) for outcome in TITLES),
        _section("Incomplete queries", account.incomplete, "Every query of every run was completed."),
        _section("Left out", [f"{name}: {why}" for name, why in account.left_out.items()], ""),
        _section("Not run yet", account.missing, ""),
        markdown(sizes_table(account.scored), COMPLETE),
        _pictures(account),
        _rest(account),
    )
    return "\n".join(part for part in parts if part)


def sizes_table(scored: Sequence[ScoreTable]) -> Table:
    """Tabulate how many queries each method had."""
    results = Results(scored)
    columns = tuple(Column(name, workload_label(name), 0) for name in results.workloads)
    rows = [
        TableRow(
            method_label(method),
            tuple(Cell(len(found)) if (found := results.table(method, c.key)) else Cell() for c in columns),
        )
        for method in results.methods
    ]
    return Table("sizes", "Queries of each method", columns, tuple(rows))


def _opening(account: Account) -> str:
    manifest = account.manifest
    used = [one for one in manifest.models if one.engine != "none"]
    models = "; ".join(escape_markdown(f"{one.part.replace('_', '-')} {one.model}") for one in used)
    queries = {name: max(len(t) for t in account.scored if t.workload == name) for name in _workloads(account)}
    ran = ", ".join(f"{workload_label(name)} {count:,}" for name, count in queries.items())
    split = "evaluation" if manifest.kind == "locked" else "development"
    sizes = published().queries
    return (
        f"# Reproduction with the preset {escape_markdown(manifest.preset)}\n\n"
        f"Queries, of {split} splits: {escape_markdown(ran)}. Models: {models}. The paper has "
        f"{sizes['longbench']:,} of LongBench, {sizes['qasper']:,} of QASPER and {sizes['docvqa']:,} of DocVQA, and "
        f"{published().models}; its values stand beside these where the workload is one of its own.\n\n"
        "A difference is *shown* where its 95 % interval leaves out 0 and the paired test gives at most 0.05; all "
        "else is said of means alone. The sentences on this page are made from the runs by that rule.\n"
    )


def _workloads(account: Account) -> list[str]:
    return Results(account.scored).workloads


def _passing(account: Account) -> str:
    if not account.passing:
        ran = {table.method for table in account.scored}
        return f"{NONE_PASSES}\n" if STATERAG in ran and not ran.isdisjoint(BASELINES) else ""
    lines = []
    for is_shown, found in groupby(account.passing, key=lambda each: each.is_shown):
        group = list(found)
        lines += [
            f"- {escape_markdown(method)} on {escape_markdown(workload)}: {', '.join(map(_gain, each))}"
            + (" (shown)" if is_shown else "")
            for (method, workload), each in _by_method(group)
        ]
    has_baseline = any(each.comparison.system in PAPERS for each in account.passing)
    return (
        f"{PASSES if has_baseline else CONTROL_PASSES} By the means, and shown where it says so:\n\n"
        + "\n".join(lines)
        + "\n"
    )


def _by_method(found: Iterable[Passing]) -> list[tuple[tuple[str, str], list[Passing]]]:
    groups: dict[tuple[str, str], list[Passing]] = {}
    for each in found:
        key = (method_label(each.comparison.system), workload_label(each.comparison.workload))
        groups.setdefault(key, []).append(each)
    return list(groups.items())


def _gain(each: Passing) -> str:
    paired = each.comparison.paired
    label = METRICS[each.comparison.metric].label
    interval = f" [{paired.low:+.3f}, {paired.high:+.3f}]" if paired.low == paired.low else ""
    return f"{label} {paired.difference:+.3f}{interval} (n = {paired.n:,})"


def _outcome(account: Account, outcome: Outcome) -> str:
    lines = []
    for finding in (each for each in account.findings if each.outcome is outcome):
        whose = "" if finding.is_papers else " (not a claim of the paper's)"
        lines.append(f"{finding.said}{whose}: {finding.detail}{_against(finding)}")
    return _section(TITLES[outcome], lines, "")


def _against(finding: Judgement) -> str:
    """Name what speaks most against a claim, where something does."""
    contrary = [each for each in finding.differences if each.bearing is Bearing.CONTRARY]
    said = [
        f"{METRICS[each.metric].label} on {workload_label(each.workload)} {each.value:+,.3f} against "
        f"{method_label(each.comparison.system)}"
        for each in contrary
    ]
    return f" ({'; '.join(said)})" if said else ""


def _section(title: str, lines: Sequence[str], empty: str) -> str:
    if not lines:
        return f"## {title}\n\n{empty}\n" if empty else ""
    return f"## {title}\n\n" + "\n".join(f"- {escape_markdown(line)}" for line in lines) + "\n"


def _pictures(account: Account) -> str:
    found = [path for path in account.files if path.suffix == ".png" and path.stem in PICTURES]
    shown = "\n\n".join(f"![{PICTURES[path.stem]}](report/{path.name})" for path in found)
    return f"## Figures\n\n{shown}\n" if shown else ""


def _rest(account: Account) -> str:
    studies = "\n".join(
        f"| {study.name} | {escape_markdown(study.title)} | {', '.join(study.fills)} |" for study in STUDIES
    )
    files = ", ".join(f"[{path.name}](report/{path.name})" for path in account.files if path.suffix != ".png")
    return (
        f"## Where to read on\n\n{files}. `runs/` holds an ordinary run for each method on each workload: "
        "`staterag compare` and `staterag funnel` read them. Figure 1 of the paper is a drawing with nothing measured "
        "in it; a trajectory like that of its Figure 2, from these runs, is trace.md.\n\n"
        f"| part | what it is | tables and figures |\n|---|---|---|\n{studies}\n"
    )
