"""The loss funnel as tables: gold by stage and question type, verdicts against sufficiency, and the last step."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.funnel import STAGES, Funnel, Tally
from metrics.metric import METRICS
from metrics.sufficiency import Agreement
from programs.report.names import method_label, workload_label
from programs.report.tables import Cell, Column, Table, TableRow

LABELS = {
    "gold": "Gold",
    "completed": "Completed",
    "reached": "Reached",
    "candidates": "Candidates",
    "kept": "Kept",
    "carried": "Carried",
    "admitted": "Admitted",
}
ALL, UNTYPED = "all", "(no type)"
BESIDE = ("beside the stages",)
RULES = {
    "half": "A passage is there where at least half of its characters are, in one record or in several together.",
    "title": "A passage is there where its whole title line is.",
}
COUNTED = "Every passage counts once, where recall is a mean over queries."
ABOUT = {
    "completed": "Completed: its query reached a terminal action.",
    "reached": "Reached: scored by the Navigator, or a candidate.",
    "candidates": "Candidates: among what the Retriever chose from, in some cycle.",
    "kept": "Kept: committed as evidence in some cycle.",
    "carried": "Carried: still there in the last cycle, or merged by FALLBACK.",
    "admitted": "Admitted: given to the reader, within its budget.",
}
ANSWERS = ("accuracy", "f1")
JUDGED = {
    "PASS, all there": ("PASS", True),
    "PASS, gold missing": ("PASS", False),
    "FAIL, gold missing": ("FAIL", False),
    "FAIL, all there": ("FAIL", True),
}


def funnel_tables(funnels: Sequence[Funnel]) -> list[Table]:
    """Give the funnel, and what there is of the Verifier's and the reader's part."""
    tables = (funnel_table(funnels), verifier_table(funnels), answer_table(funnels))
    return [table for table in tables if table.rows]


def funnel_table(funnels: Sequence[Funnel]) -> Table:
    """Count the gold that got to each stage, with its share of all gold."""
    stages = [stage for stage in STAGES if any(stage in funnel.stages for funnel in funnels)]
    beside = ("scored", "on_path") if "reached" in stages else ()
    columns = [Column(stage, LABELS[stage], 0) for stage in stages]
    columns += [Column(key, {"scored": "Scored", "on_path": "Ends a trace"}[key], 0, heading=BESIDE) for key in beside]
    rows = [
        TableRow(
            label, tuple(_funnel_cell(funnel, tally, column.key) for column in columns), group(funnel), label == ALL
        )
        for funnel in funnels
        for label, tally in by_type(funnel)
    ]
    about = " ".join(ABOUT[stage] for stage in stages if stage in ABOUT)
    notes = (RULES[funnels[0].rule], COUNTED, about, *(note for funnel in funnels for note in _remarks(funnel)))
    return Table("funnel", "Where gold evidence is lost", tuple(columns), tuple(rows), "Question type", notes)


def verifier_table(funnels: Sequence[Funnel]) -> Table:
    """Hold verdicts against sufficiency: all types by cycle, then each type, then everything."""
    columns = (
        Column("verdicts", "Verdicts", 0),
        *(Column(label, label, 0) for label in JUDGED),
        Column("accuracy", "Right", 3),
        Column("balanced_accuracy", "Balanced", 3),
    )
    rows = [
        TableRow(label, _verdict_cells(found), group(funnel), label == ALL)
        for funnel in funnels
        for label, found in _agreements(funnel)
        if found.count()
    ]
    notes = (
        "Evidence suffices where all the gold of a query is in what the verdict's cycle committed.",
        "Balanced is the mean of the share right where it suffices and where it does not: 0.5 is worth nothing.",
    )
    return Table("verifier", "Verdicts against sufficiency", columns, rows=tuple(rows), stub="Verdicts of", notes=notes)


def answer_table(funnels: Sequence[Funnel]) -> Table:
    """Give the quality of answers where all gold was admitted and where some was not."""
    headings = {True: "All gold admitted", False: "Some gold missing"}
    columns = [
        column
        for enough, heading in headings.items()
        for column in (
            Column(f"{enough}.n", "Queries", 0, heading=(heading,)),
            *(Column(f"{enough}.{metric}", METRICS[metric].label, 3, heading=(heading,)) for metric in ANSWERS),
        )
    ]
    rows = [
        TableRow(label, _answer_cells(tally), group(funnel), label == ALL)
        for funnel in funnels
        for label, tally in by_type(funnel)
        if any(means.n for means in tally.answers.values())
    ]
    notes = ("Incomplete queries have no evidence and no answer: they score 0 where some gold is missing.",)
    return Table(
        "last-step", "The last step: answers by what was admitted", tuple(columns), tuple(rows), "Question type", notes
    )


def group(funnel: Funnel) -> str:
    """Call a method and its workload."""
    return f"{method_label(funnel.method)}, {workload_label(funnel.workload)}"


def by_type(funnel: Funnel) -> list[tuple[str, Tally]]:
    """Give the counts of each question type, where there are several, and of all."""
    types = sorted(funnel.types.items(), key=lambda item: (item[0] is None, item[0] or ""))
    named = [(UNTYPED if kind is None else kind, tally) for kind, tally in types] if len(types) > 1 else []
    return [*named, (ALL, funnel.whole)]


def _funnel_cell(funnel: Funnel, tally: Tally, key: str) -> Cell:
    if (key if key in STAGES else "reached") not in funnel.stages:
        return Cell()
    total = tally.survivors("gold")
    count = tally.survivors(key) if key in STAGES else getattr(tally, key)
    return Cell(count, note="" if key == "gold" else f" ({count / total:.1%})")


def _agreements(funnel: Funnel) -> list[tuple[str, Agreement]]:
    whole = funnel.whole.verdicts
    cycles = [(f"cycle {cycle}", whole.of_cycle(cycle)) for cycle in whole.cycles] if len(whole.cycles) > 1 else []
    return [*cycles, *((label, tally.verdicts) for label, tally in by_type(funnel))]


def _verdict_cells(found: Agreement) -> tuple[Cell, ...]:
    counts = (found.count(), *(found.count(*judged) for judged in JUDGED.values()))
    return *map(Cell, counts), Cell(found.accuracy), Cell(found.balanced_accuracy)


def _answer_cells(tally: Tally) -> tuple[Cell, ...]:
    return tuple(
        cell
        for enough in (True, False)
        for means in [tally.answers[enough]]
        for cell in (Cell(means.n), *(Cell(means.mean(metric)) for metric in ANSWERS))
    )


def _remarks(funnel: Funnel) -> list[str]:
    """Say what ended incomplete queries, and what is in no count."""
    said = []
    if lost := funnel.whole.ended_by:
        causes = ", ".join(f"{cause} {count:,}" for cause, count in lost.most_common())
        said.append(f"{group(funnel)}: gold of incomplete queries, by what ended them: {causes}.")
    if funnel.unjudged:
        said.append(f"{group(funnel)}: {funnel.unjudged:,} queries name no gold and are in no count.")
    return said
