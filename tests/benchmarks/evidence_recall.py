"""Evidence recall on LongBench dev rows: StateRAG beside plain top-k and reranked top-k at the same evidence budget.

Reads `<data>/longbench/<task>.dev.jsonl.gz`. No reader is called, and no reference reaches a method. Two readings of
"a supporting title is in the evidence" are printed: its title line is covered, or half of its passage is. Writes a line a query to
`runs/recall/<task>.jsonl` as it goes, and goes on from there when started again.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path

import dspy
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from metrics.evidence import passage_recall, title_recall
from programs.admission import select_budget
from programs.methods.staterag import StateRAG
from programs.models.ledger import Ledger, Phase
from programs.models.runtime import Runtime, open_runtime
from programs.settings import load_settings
from programs.state import EvidenceRecord
from programs.tam.segment import segment
from programs.workloads.longbench import CONTEXT_ID, load_longbench

TASKS = ("hotpotqa", "2wikimqa", "musique")
RULES = {"title line": title_recall, "half of the passage": passage_recall}


COLUMNS = (
    "task",
    "n",
    "StateRAG",
    "top-k",
    "top-k reranked",
    "StateRAG − top-k [95 %]",
    "LLM tokens",
    "calls",
    "cycles",
    "incomplete",
    "s/query",
)


class NoReader(dspy.Module):
    """Stands where the reader stands and asks nobody: recall needs no answer."""

    def forward(self, **rest: object) -> dspy.Prediction:
        return dspy.Prediction(answer="")


def top_k(runtime: Runtime, query, rerank: int | None) -> list[tuple[int, int]]:
    """Give the spans of the regions most similar to the question, reranked or not, within the same budget."""
    settings = runtime.settings
    regions = segment(query.collection, runtime.encoder, settings.tam.region_tokens, settings.tam.overlap_tokens)
    similarity = (
        runtime.encoder.encode_passages([r.text for r in regions]) @ runtime.encoder.encode_queries([query.question])[0]
    )
    order = np.argsort(-similarity, kind="stable")
    if rerank:
        head = order[:rerank]
        scores = runtime.cross_encoder.score(query.question, [regions[i].text for i in head])
        order = head[np.argsort(-scores, kind="stable")]
    records = [
        EvidenceRecord(
            evidence_id=regions[i].evidence_id,
            source_id=regions[i].source_id,
            start=regions[i].start,
            end=regions[i].end,
            text=regions[i].text,
            cycle=0,
        )
        for i in order[: settings.lifecycle.keep_first]
    ]
    return [(r.start, r.end) for r in select_budget(records, settings.lifecycle.reader_budget, runtime.encoder)]


def measure(program: StateRAG, runtime: Runtime, example) -> dict[str, object]:
    """Run the three on one query."""
    supporting = example.reference.model_dump(mode="json")["passages"]
    started = time.perf_counter()
    record = program.run(example.query)
    seconds = time.perf_counter() - started
    ledger = Ledger("top-k")
    with ledger.scope("top-k", Phase.AUX):
        plain = top_k(runtime, example.query, None)
        reranked = top_k(runtime, example.query, 10)
    spans = {
        "staterag": [(item.start, item.end) for item in record.evidence],
        "top-k": plain,
        "top-k reranked": reranked,
    }
    recalls = {
        f"{name}, {rule}": measure_by(addresses(found), supporting)
        for rule, measure_by in RULES.items()
        for name, found in spans.items()
    }
    return {
        "query_id": example.query.query_id,
        "question_type": example.reference.question_type,
        **recalls,
        "spans": spans,
        "status": record.status,
        "action": record.action,
        "cycles": record.cycles,
        "reason": record.rejections[-1].reason if record.rejections else record.error,
        "evidence": len(record.evidence),
        "tokens": record.tokens.aux + record.tokens.index,
        "encoder_tokens": record.encoder_tokens,
        "calls": len(record.calls),
        "seconds": seconds,
        "settings": record.settings,
    }


def addresses(spans: list[tuple[int, int]]) -> list[dict[str, object]]:
    """Write spans of the context as the metrics read evidence."""
    return [{"source_id": CONTEXT_ID, "start": start, "end": end} for start, end in spans]


def interval(differences: list[float]) -> tuple[float, float]:
    """Give a paired bootstrap 95 % interval of the mean difference."""
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(differences, k=len(differences))) for _ in range(2000))
    return means[50], means[1949]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--preset", default="embedded")
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    parser.add_argument("--out", type=Path, default=Path("runs/recall"))
    parser.add_argument("--tasks", nargs="+", default=TASKS)
    options = parser.parse_args()
    settings = load_settings(options.preset, options.overrides)
    runtime = open_runtime(settings)
    rows = {task: run_task(task, options, runtime) for task in options.tasks}
    if len(rows) > 1:
        rows["all"] = [row for task in options.tasks for row in rows[task]]
    console = Console(width=160)
    budget = settings.lifecycle.reader_budget
    console.print(f"preset {settings.preset}, settings {settings.digest}, evidence budget {budget} tokens")
    for rule in RULES:
        table = Table(*COLUMNS, title=f"found means: {rule}", title_justify="left")
        for task, measured in rows.items():
            table.add_row(*summary(task, measured, rule))
        console.print(table)


def run_task(task: str, options: argparse.Namespace, runtime: Runtime) -> list[dict]:
    """Measure a task's first rows, keeping what an earlier start already measured with the same settings."""
    program = StateRAG(runtime, workload=f"longbench/{task}")
    program.reader = NoReader()
    path = options.out / f"{task}.{runtime.settings.digest}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {row["query_id"] for row in rows}
    examples = [
        e
        for e, _ in zip(
            load_longbench(options.data / "longbench" / f"{task}.dev.jsonl.gz"), range(options.limit), strict=False
        )
    ]
    with path.open("a", encoding="utf-8") as file:
        for example in track([e for e in examples if e.query.query_id not in done], task, console=Console(stderr=True)):
            rows.append(measure(program, runtime, example))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    wanted = {e.query.query_id for e in examples}
    return [row for row in rows if row["query_id"] in wanted]


def summary(task: str, rows: list[dict], rule: str) -> list[str]:
    """Average a task's rows under one reading of "found"."""

    def mean(key: str) -> float:
        return statistics.fmean(float(row[key]) for row in rows)

    ours, plain, reranked = (f"{name}, {rule}" for name in ("staterag", "top-k", "top-k reranked"))
    low, high = interval([row[ours] - row[plain] for row in rows])
    return [
        task,
        str(len(rows)),
        *(f"{mean(key):.3f}" for key in (ours, plain, reranked)),
        f"{mean(ours) - mean(plain):+.3f} [{low:+.3f}, {high:+.3f}]",
        f"{mean('tokens'):.0f}",
        f"{mean('calls'):.1f}",
        f"{mean('cycles'):.2f}",
        str(sum(row["status"] != "completed" for row in rows)),
        f"{mean('seconds'):.1f}",
    ]


if __name__ == "__main__":
    main()
