"""What of the claims held, by rule.

In one metric on one workload, a claim is about its system and each of the others, on the queries that both have. The
difference is *shown* where its 95 % interval leaves out 0 and the paired test gives at most 0.05: with few queries an
interval alone can be short by chance. Else the means alone speak, for it or against it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from metrics.metric import METRICS
from metrics.scores import ScoreTable
from programs.errors import InputError
from programs.report.comparison import Comparison, compare
from programs.report.names import LONGBENCH, MACRO, REMOVALS, STATERAG, WORKLOADS, base, method_label, workload_label
from programs.report.published import published
from programs.report.results import Results
from programs.report.tables import Cell, Column, Table, TableRow
from programs.reproduce.claims import BASELINES, CLAIMS, FOUND, PAPERS, POINTS, Claim

ALPHA = 0.05
PRINTED = ("longbench", "documents", "carriers", "ablations")
"""The paper's tables of means."""
WITHOUT_MARS = "staterag-without-mars"
QUALITY = ("em", "f1", "accuracy", "anls", *FOUND)


class Bearing(StrEnum):
    """What one difference says of a claim."""

    SHOWN = "shown"
    FOR = "by the means"
    EQUAL = "equal"
    AGAINST = "not by the means"
    CONTRARY = "the contrary is shown"


class Outcome(StrEnum):
    """What became of a claim."""

    HELD = "held"
    BY_MEANS = "held by the means, which does not show it"
    FAILED = "did not hold"
    UNKNOWN = "not measured"


@dataclass(frozen=True)
class Difference:
    """A claim in one metric on one workload: its system less the other that speaks most against it."""

    workload: str
    metric: str
    comparison: Comparison
    less: bool

    @property
    def value(self) -> float:
        """The system's mean less the other's."""
        return self.comparison.reference_mean - self.comparison.system_mean

    @property
    def bearing(self) -> Bearing:
        """Judge by the rule."""
        return bearing(self.comparison, self.less)


@dataclass(frozen=True)
class Judgement:
    """A claim, what became of it, and what that rests on."""

    said: str
    outcome: Outcome
    detail: str
    is_papers: bool = True
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Passing:
    """A method that has more of a quality than StateRAG."""

    comparison: Comparison

    @property
    def is_shown(self) -> bool:
        """Tell whether it is more than the means that say so."""
        return bearing(self.comparison, less=False) is Bearing.CONTRARY


def bearing(found: Comparison, less: bool) -> Bearing:
    """Judge the claim that the comparison's reference has more than its system, or less."""
    sign = 1 if less else -1
    gain = sign * found.paired.difference
    low, high = sorted((sign * found.paired.low, sign * found.paired.high))
    if math.isfinite(low) and found.p <= ALPHA:
        if low > 0:
            return Bearing.SHOWN
        if high < 0:
            return Bearing.CONTRARY
    return Bearing.FOR if gain > 0 else Bearing.AGAINST if gain < 0 else Bearing.EQUAL


def findings(scored: Sequence[ScoreTable]) -> list[Judgement]:
    """Judge every claim by the runs' tables, in which a way of running is part of a method's name."""
    results = Results(scored)
    return [*(judged(claim, results) for claim in CLAIMS), cheaper(results), greatest_loss(results), admitted(results)]


def judged(claim: Claim, results: Results) -> Judgement:
    """Judge one claim."""
    others = [name for name in claim.others if name in results.methods]
    if claim.system not in results.methods or not others:
        return Judgement(claim.said, Outcome.UNKNOWN, "these methods were not run", claim.is_papers)
    where = _where(claim, results)
    found = comparisons(results, claim.system, others, {metric for metrics in where.values() for metric in metrics})
    differences = [
        Difference(workload, metric, _strongest(here, claim.less), claim.less)
        for workload, metrics in where.items()
        for metric in metrics
        if (here := [each for each in found if (each.workload, each.metric) == (workload, metric)])
    ]
    if not differences:
        return Judgement(claim.said, Outcome.UNKNOWN, "on none of its workloads", claim.is_papers)
    outcome, detail = _told([each.bearing for each in differences])
    places = ", ".join(dict.fromkeys(workload_label(each.workload) for each in differences))
    detail = f"on {places} {detail}"
    missing = [method_label(name) for name in claim.others if name not in results.methods]
    if missing:
        detail += f"; without {', '.join(missing)}"
    return Judgement(claim.said, outcome, detail, claim.is_papers, tuple(differences))


def comparisons(results: Results, system: str, others: Iterable[str], metrics: Iterable[str]) -> list[Comparison]:
    """Compare others with a system; nothing where they have no query in common."""
    named = (system, *others)
    tables = [table for table in results.scored if table.method in named]
    wanted = [metric for metric in METRICS if metric in set(metrics)]
    try:
        return compare(tables, reference=system, metrics=wanted)
    except InputError:
        return []


def passing(scored: Sequence[ScoreTable]) -> list[Passing]:
    """Give every baseline and control that has more of a quality than StateRAG, what is shown first."""
    results = Results(scored)
    others = [name for name in BASELINES if name in results.methods]
    if STATERAG not in results.methods or not others:
        return []
    summaries = results.summaries([STATERAG])
    found = [
        Passing(each)
        for each in comparisons(results, STATERAG, others, QUALITY)
        if each.workload in summaries and each.paired.difference > 0
    ]
    return sorted(found, key=lambda each: not each.is_shown)


def cheaper(results: Results) -> Judgement:
    """Judge that whatever takes fewer RET than StateRAG also scores lower in everything."""
    said = "Every method that takes fewer RET than StateRAG scores lower on every quality metric"
    others = [name for name in PAPERS if name in results.methods]
    if STATERAG not in results.methods or not others:
        return Judgement(said, Outcome.UNKNOWN, "these methods were not run")
    found = comparisons(results, STATERAG, others, ("ret", "em", "f1", "accuracy", "anls"))
    fewer = {(e.workload, e.system) for e in found if e.metric == "ret" and e.paired.difference < 0}
    scores = [e for e in found if e.metric != "ret" and (e.workload, e.system) in fewer]
    if not scores:
        return Judgement(said, Outcome.UNKNOWN, "no method took fewer")
    outcome, detail = _told([bearing(each, less=False) for each in scores])
    return Judgement(said, outcome, detail)


def greatest_loss(results: Results) -> Judgement:
    """Judge that leaving MARS out costs most, by the means."""
    said = "Leaving MARS out costs the most on LongBench"
    workloads = [name for name in results.summaries(REMOVALS) if name == MACRO or name not in WORKLOADS]
    costs = {
        label: [results.mean(STATERAG, workload, metric) - results.mean(name, workload, metric) for metric in POINTS]
        for name, label in REMOVALS.items()
        for workload in workloads[:1]
        if results.has(STATERAG, workload) and results.has(name, workload)
    }
    if len(costs) < len(REMOVALS):
        return Judgement(said, Outcome.UNKNOWN, "not all removals were run")
    mars = costs.pop(REMOVALS[WITHOUT_MARS])
    held = [cost > max(0, *others) for cost, *others in zip(mars, *costs.values(), strict=True)]
    outcome = Outcome.BY_MEANS if all(held) else Outcome.FAILED
    detail = f"by the means in {sum(held)} of {len(held)}, on {workload_label(workloads[0])}"
    return Judgement(said, outcome, detail)


def admitted(results: Results) -> Judgement:
    """Judge that the reader was never admitted against the rules, in any run."""
    said = "The reader is admitted by the rules alone"
    once = {id(table.values): table for table in results.scored}.values()  # a run may be a way of several studies
    broken = sum(float(table.values["admission_violations"].sum()) for table in once)
    queries = sum(map(len, once))
    outcome = Outcome.FAILED if broken else Outcome.HELD
    return Judgement(said, outcome, f"{broken:,.0f} violations in {queries:,} queries of all runs")


def findings_table(found: Sequence[Judgement]) -> Table | None:
    """Tabulate the differences that findings rest on, with what the paper prints of each."""
    rows = [
        TableRow(
            f"{METRICS[each.metric].label} against {method_label(each.comparison.system)}",
            (
                Cell(each.comparison.reference_mean),
                Cell(each.comparison.system_mean),
                Cell(0.0 - each.comparison.paired.difference, *_bounds(each.comparison), n=each.comparison.paired.n),
                Cell(text=_number(printed_difference(each.comparison))),
                Cell(text=each.bearing.value),
            ),
            f"{finding.said} ({workload_label(each.workload)})",
        )
        for finding in found
        for each in finding.differences
    ]
    columns = (
        Column("system", "It", 3),
        Column("other", "The other", 3),
        Column("difference", "Difference", 3),
        Column("printed", "Difference in the paper"),
        Column("bearing", "The claim is"),
    )
    notes = (
        "Of several others, the one that speaks most against the claim. Brackets are 95 % bootstrap intervals of the "
        "difference, each by itself: with so many of them some leave out 0 by chance.",
    )
    return Table("findings", "What the claims rest on", columns, tuple(rows), "Claim", notes) if rows else None


def printed_difference(found: Comparison) -> float:
    """Give the paper's difference between the same two."""
    ours, theirs = (printed(name, found.workload, found.metric) for name in (found.reference, found.system))
    return ours - theirs


def printed(method: str, workload: str, metric: str) -> float:
    """Give the mean that the paper prints; NaN where it has none, as of a way of running that it does not have."""
    if base(method) != method:
        return math.nan
    values = (published().value(table, base(method), f"{workload}.{metric}") for table in PRINTED)
    return next((value for value in values if math.isfinite(value)), math.nan)


def _where(claim: Claim, results: Results) -> dict[str, tuple[str, ...]]:
    """Give the paper's workloads, or if none of them was run, whatever was."""
    papers = {name: metrics for name, metrics in claim.where.items() if results.has(claim.system, name)}
    if papers:
        return papers
    if MACRO in claim.where and (tasks := [name for name in LONGBENCH if results.has(claim.system, name)]):
        return dict.fromkeys(tasks, claim.where[MACRO])
    others = [name for name in results.workloads if name not in WORKLOADS and results.has(claim.system, name)]
    return dict.fromkeys(others, claim.elsewhere)


def _strongest(found: Sequence[Comparison], less: bool) -> Comparison:
    """Give the comparison that speaks most against a claim: the contrary shown, then the least gain."""
    rank = list(Bearing)
    sign = 1 if less else -1
    return max(found, key=lambda each: (rank.index(bearing(each, less)), -sign * each.paired.difference))


def _told(found: Sequence[Bearing]) -> tuple[Outcome, str]:
    """Put what differences say into an outcome and a few words."""
    total, shown = len(found), found.count(Bearing.SHOWN)
    means = shown + found.count(Bearing.FOR)
    contrary, equal = found.count(Bearing.CONTRARY), found.count(Bearing.EQUAL)
    detail = f"by the means in {means} of {total}, shown in {shown}"
    if equal:
        detail += f", equal in {equal}"
    if contrary:
        detail += f"; the contrary is shown in {contrary}"
    if shown == total:
        return Outcome.HELD, detail
    return (Outcome.BY_MEANS if means == total else Outcome.FAILED), detail


def _bounds(found: Comparison) -> tuple[float, float]:
    return 0.0 - found.paired.high, 0.0 - found.paired.low  # which is no -0


def _number(value: float) -> str:
    return f"{value:+,.3f}" if math.isfinite(value) else "–"
