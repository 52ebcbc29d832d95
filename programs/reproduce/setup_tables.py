"""What ran, beside what the paper says that it ran: the supplement's tables of workloads, settings and surroundings.

All of it is read from the runs' manifests and records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from metrics.metric import METRICS
from metrics.record import QueryRecord, Role, StateField
from metrics.scores import ScoreTable
from programs.report.names import DOCVQA, LONGBENCH, QASPER, STATERAG, method_label, workload_label
from programs.report.published import published
from programs.report.tables import ABSENT, Cell, Column, Table, TableRow
from programs.workloads.manifest import AnyManifest

PAPER, HERE = Column("paper", "In the paper"), Column("here", "Here")
PROPOSES = {
    Role.PLANNER: (StateField.PLAN, "plan schema"),
    Role.NAVIGATOR: (StateField.PATH, "typed path"),
    Role.RETRIEVER: (StateField.EVIDENCE, "provenance"),
    Role.VERIFIER: (StateField.VERDICT, "verdict record"),
}
PAPERS_SPLIT = {QASPER: "Test", DOCVQA: "Validation"} | dict.fromkeys(LONGBENCH, "Evaluation")


def workload_table(scored: Sequence[ScoreTable], splits: Mapping[str, str]) -> Table:
    """Tabulate the workloads: the split that was read, the most and the fewest queries of a method, and the metrics."""
    rows = []
    for workload in dict.fromkeys(table.workload for table in scored):
        here = [table for table in scored if table.workload == workload]
        sizes = [len(table) for table in here]
        sources = {cluster for table in here for cluster in table.clusters}
        defined = [METRICS[name].label for name in METRICS if any(name in table.defined for table in here)]
        quality = [label for label in defined if label in {METRICS[n].label for n in ("em", "f1", "accuracy", "anls")}]
        cells = (
            Cell(text=PAPERS_SPLIT.get(workload, ABSENT)),
            Cell(text=splits[workload]),
            Cell(max(sizes)),
            Cell(min(sizes)),
            Cell(len(sources)),
            Cell(text=", ".join(quality) or ABSENT),
        )
        rows.append(TableRow(workload_label(workload), cells))
    columns = (
        Column("split_paper", "Split in the paper"),
        Column("split", "Split here"),
        Column("most", "Queries", 0),
        Column("fewest", "Fewest of a method", 0),
        Column("clusters", "Independent sources", 0),
        Column("metrics", "Metrics"),
    )
    notes = ("Incomplete queries and empty answers score 0 and stay in every denominator.",)
    return Table("workloads", "Workloads and evaluation measures", columns, tuple(rows), "Workload", notes)


def settings_table(manifest: AnyManifest) -> Table:
    """Hold StateRAG's settings against the paper's."""
    entry = next((one for one in manifest.methods if one.name == STATERAG), manifest.methods[0])
    rows = [
        TableRow(one.item, (Cell(text=one.printed), Cell(text=told(entry.settings, one.keys))))
        for one in published().settings
    ]
    title = f"Settings of {method_label(entry.name)}"
    return Table("settings", title, (PAPER, HERE), tuple(rows), "Item")


def environment_table(manifest: AnyManifest) -> Table:
    """Hold the surroundings of a run against the paper's."""
    printed = published().environment
    models = "; ".join(str(model) for model in manifest.models if model.engine != "none")
    packages = ", ".join(f"{name} {manifest.packages[name]}" for name in LIBRARIES if name in manifest.packages)
    here = {
        "Hardware": manifest.machine,
        "Runtime": f"Python {manifest.python}",
        "Model framework": packages,
        "Models": models,
        "DocVQA front end": "the text beside each page's image",
        "Decoding": "greedy with temperature 0",
    }
    rows = [
        TableRow(item, (Cell(text=printed.get(item, published().models)), Cell(text=text)))
        for item, text in here.items()
    ]
    return Table("environment", "Shared implementation", (PAPER, HERE), tuple(rows), "Component")


LIBRARIES = ("torch", "sentence-transformers", "onnxruntime", "xllamacpp", "dspy")


def told(settings: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Write some settings as they stand in a manifest."""
    return ", ".join(f"{key.rpartition('.')[2]} {_value(settings, key)}" for key in keys)


def role_table(records: Iterable[QueryRecord]) -> Table | None:
    """Count what each role proposed: what was committed, and what was rejected for which reason."""
    committed: Counter[Role] = Counter()
    rejected: dict[Role, Counter[str]] = {role: Counter() for role in PROPOSES}
    endings: Counter[str] = Counter()
    for record in records:
        committed.update(commit.role for commit in record.states)
        for rejection in record.rejections:
            if rejection.role in rejected:
                rejected[rejection.role][rejection.reason.value] += 1
        endings[record.action.value if record.is_complete and record.action else "⊥"] += 1
    if not endings:
        return None
    rows = [
        TableRow(
            role.value.capitalize(),
            (
                Cell(text=field.value),
                Cell(text=check),
                Cell(committed[role]),
                Cell(rejected[role].total()),
                Cell(text=counted(rejected[role])),
            ),
        )
        for role, (field, check) in PROPOSES.items()
    ]
    columns = (
        Column("field", "Field"),
        Column("check", "Validation"),
        Column("committed", "Committed", 0),
        Column("rejected", "Rejected", 0),
        Column("reasons", "Reasons"),
    )
    notes = (f"How {endings.total():,} queries ended: {counted(endings)}; ⊥ is incomplete.",)
    return Table("role-checks", "Role proposals and validation checks", columns, tuple(rows), "Role", notes)


def counted(counts: Counter[str]) -> str:
    """Write counts, the greatest first."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.most_common()) or ABSENT


def _value(settings: Mapping[str, Any], key: str) -> str:
    found: Any = settings
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        return " + ".join(f"{weight:g} {name}" for name, weight in found.items())
    return str(found).lower() if isinstance(found, bool) else str(found)
