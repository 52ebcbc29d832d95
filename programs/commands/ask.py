"""`ask` and the sample: questions answered and shown, or kept as a run that other commands read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from metrics.answers import containment_accuracy
from metrics.evidence import source_recall
from metrics.record import QueryRecord
from programs.commands.terminal import err, out
from programs.documents.collection import Collection
from programs.models.runtime import Runtime
from programs.report.answer import print_answer
from programs.report.bars import bars
from programs.report.console import print_states, results_table
from programs.report.terminal_tables import print_fitted
from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation
from programs.selection.configured import ConfiguredMethod
from programs.workloads.query import Example, Query, Reference
from programs.workloads.registry import Workload
from programs.workloads.sample import load_sample

WORKLOAD = "ask"


def say_what_runs(methods: Sequence[ConfiguredMethod]) -> None:
    """Say what was taken or left out without being asked for, in a line for all methods of which the same is true."""
    missing = f"nothing is compiled for {methods[0].settings.preset}"
    some_ship = any(method.note for method in methods)
    lines: dict[str, list[str]] = {}
    for method in methods:
        note = method.note or (missing if some_ship and method.file is None else None)
        if note:
            lines.setdefault(note, []).append(method.name)
    for note, names in lines.items():
        err.print(Text(f"{', '.join(names)}: {note}"), soft_wrap=True)


def answer(
    configured: ConfiguredMethod, runtime: Runtime, question: str, collection: Collection, folder: Path | None
) -> QueryRecord:
    """Answer a question; with a folder, as a run of one query."""
    query = Query(query_id=WORKLOAD, question=question, collection=collection, position=0)
    with bars(err):
        if folder is not None:
            return _kept(configured, query, runtime, folder)
        with configured.open(runtime, WORKLOAD) as program:
            return program.run(query)


def _kept(configured: ConfiguredMethod, query: Query, runtime: Runtime, folder: Path) -> QueryRecord:
    """Run the query as an evaluation would: nothing is known to score it against."""
    example = Example(query=query, reference=Reference(query_id=query.query_id, answers=()))
    run = Evaluation(Workload(WORKLOAD, "dev", (), (example,)), (configured,))
    found: list[QueryRecord] = []

    def listen(method: str, done: int, total: int, record: QueryRecord | None) -> None:
        if record is not None:
            found.append(record)

    evaluate(run, run.manifest(), runtime, folder, listener=listen)
    return found[-1]


def run_sample(configured: ConfiguredMethod, runtime: Runtime) -> None:
    """Answer the sample's questions, and show one query's states as they were committed."""
    sample = load_sample()
    rows = []
    try:
        with bars(err) as show, configured.open(runtime, "sample") as program:
            for done, example in enumerate(sample.examples):
                show("questions", done, len(sample.examples))
                record = program.run(example.query)
                right = containment_accuracy(record.answer, example.reference.answers) == 1.0
                recall = source_recall([item.source_id for item in record.evidence], example.reference.supporting)
                rows.append((record, example.reference.answers, right, recall))
    except KeyboardInterrupt:
        if not rows:
            raise
        err.print("stopped; this is what was answered until then")
    shown = max((record for record, *_ in rows), key=lambda record: (record.cycles, len(record.states)))
    sources = sample.examples[0].query.collection.texts
    out.rule("One query, state by state")
    print_states(shown, out)
    print_answer(shown, out, sources, best_guess=True)
    out.rule()
    print_fitted(results_table(rows), out)
    total = sum(row[2] for row in rows)
    out.print(f"{total} of {len(rows)} questions right (containment accuracy); preset {configured.settings.preset}")
