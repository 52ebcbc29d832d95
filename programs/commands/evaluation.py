"""`eval`: methods on a workload, in a fixed order, into a run's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from rich.table import Column, Table
from rich.text import Text

from metrics.metric import METRICS
from metrics.record import QueryRecord, Reference
from metrics.scores import score
from programs.commands.ask import say_what_runs
from programs.commands.options import EvaluationRequest
from programs.commands.terminal import err, out, say
from programs.errors import InputError
from programs.models.cache.completions import kept
from programs.models.runtime import Runtime
from programs.report.bars import bars
from programs.report.incompletes import incomplete_lines
from programs.report.results import Results
from programs.report.terminal_tables import print_fitted
from programs.report.tracking import Tracker, open_tracker
from programs.runner.estimate import Estimate, Spread, estimate
from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation
from programs.runner.folder import RunFolder
from programs.runner.scoring import score_tables
from programs.selection.configured import configure
from programs.selection.leakage import open_selection
from programs.workloads.manifest import AnyManifest
from programs.workloads.registry import open_workload

SHOWN = (
    "em",
    "f1",
    "accuracy",
    "anls",
    "told_right",
    "passage_found",
    "passage_recall",
    "title_mention",
    "recall@5",
    "ret",
    "latency",
)
"""The metrics in the table that ends a run; all are in its summary."""


def run_evaluation(request: EvaluationRequest, open_models: Callable[[Any], Runtime]) -> bool:
    """Do what `eval` was asked to; tell whether it came to anything, which a run without a complete query did not."""
    evaluation = open_evaluation(request)
    if request.workers < 1 or request.stop_after < 1:
        raise InputError("--workers and --stop-after count from 1")
    if request.completions is not None and evaluation.workload.split != "dev":
        raise InputError("--completions is for development runs; a locked run asks its models itself")
    if request.estimate:
        runtime = open_models(evaluation.methods[0].settings)
        with bars(err):
            estimates = estimate(evaluation, runtime, request.sample)
        print_fitted(estimate_table(estimates), out)
        return True
    manifest = evaluation.manifest()
    tracker = open_tracker(request.track, request.folder)
    models = open_models(evaluation.methods[0].settings)
    runtime = models if request.completions is None else kept(models, request.completions)
    try:
        summary = run_shown(request, evaluation, manifest, runtime, tracker)
    finally:
        runtime.close()
        models.close()
    print_fitted(summary_table(summary), out)
    for line in incomplete_lines(RunFolder(request.folder).records()):
        err.print(Text(line, style="yellow"))
    say(out, f"{request.folder}: {manifest.kind} run {manifest.digest}, records, summary and manifest")
    completed = any(entry["completed"] for entry in summary["methods"].values())
    if not completed:
        err.print(Text("no query of this run was completed, so its scores say nothing of the methods", style="red"))
    return completed


def open_evaluation(request: EvaluationRequest) -> Evaluation:
    """Open the questions, and what each method answers them with."""
    split = check_split(request.split)
    workload = open_workload(request.workload, request.data, split, request.questions, request.limit)
    silent = ["lifecycle.answer=false"] if request.no_reader else []
    overrides = [*request.overrides, *silent]
    methods = [configure(name, request.preset, overrides, request.compiled) for name in request.method.split(",")]
    file = next((item.file for item in methods if item.file is not None), None)
    selection = open_selection(file) if split == "eval" and file is not None else None
    evaluation = Evaluation(workload, tuple(methods), selection)
    say_what_runs(methods)
    return evaluation


def run_shown(
    request: EvaluationRequest, evaluation: Evaluation, manifest: AnyManifest, runtime: Runtime, tracker: Tracker
) -> dict[str, Any]:
    """Run with bars on the terminal and a tracker listening."""
    references = {reference.query_id: reference for reference in evaluation.references}
    begun = False
    with bars(err) as show:

        def listen(method: str, done: int, total: int, record: QueryRecord | None) -> None:
            nonlocal begun
            if not begun:  # the folder is open by now, so the run can't be refused any more
                tracker.begin(manifest.model_dump(mode="json"))
                begun = True
            show(method, done, total)
            if record is not None:
                tracker.query(record, shown_scores(record, references[record.query_id], request.no_reader))

        try:
            summary = evaluate(
                evaluation,
                manifest,
                runtime,
                request.folder,
                resume=request.resume,
                workers=request.workers,
                stop_after=request.stop_after,
                listener=listen,
            )
        except BaseException as error:
            if begun:
                tracker.finish({}, (), [request.folder / "manifest.json", request.folder / "records.jsonl"])
            if isinstance(error, KeyboardInterrupt):
                say(
                    err, f"stopped; {request.folder} keeps every finished query: the same command with --resume goes on"
                )
            raise
    if request.track:
        from programs.report.figures import write_figures  # loads matplotlib

        figures = write_figures(Results(score_tables(RunFolder(request.folder))), request.folder / "figures")
        tracker.finish(summary, figures, [request.folder / "manifest.json", request.folder / "records.jsonl"])
    return summary


def shown_scores(record: QueryRecord, reference: Reference, no_reader: bool) -> dict[str, float]:
    """Score a query as it comes, without the answer that nobody was asked for."""
    scores = score(record, reference)
    return {name: value for name, value in scores.items() if not (no_reader and METRICS[name].group == "answer")}


def check_split(split: str) -> Literal["dev", "eval"]:
    """Take one of the two splits."""
    if split == "dev":
        return "dev"
    if split == "eval":
        return "eval"
    raise InputError(f"--split is dev or eval, not {split!r}")


def summary_table(summary: dict[str, Any]) -> Table:
    """Show the main metrics with their intervals."""
    names = [m for m in SHOWN if any(m in entry["metrics"] for entry in summary["methods"].values())]
    labels = {m: e["metrics"][m]["label"] for e in summary["methods"].values() for m in names if m in e["metrics"]}
    numbers = [Column(label, justify="right") for label in ("n", "incomplete", *(labels[m] for m in names))]
    table = Table("method", *numbers, title=Text(summary["workload"]))
    for method, entry in summary["methods"].items():
        cells = [interval_text(entry["metrics"].get(name)) for name in names]
        table.add_row(Text(method), str(entry["records"]), str(entry["incomplete"]), *cells)
    return table


def interval_text(metric: dict[str, Any] | None) -> str:
    """Write a mean and its interval."""
    if metric is None:
        return "–"
    decimals = 3 if metric["mean"] < 10 else 0
    if metric["low"] is None:
        return f"{metric['mean']:.{decimals}f}"
    return f"{metric['mean']:.{decimals}f}\n[{metric['low']:.{decimals}f}, {metric['high']:.{decimals}f}]"


def estimate_table(estimates: Sequence[Estimate]) -> Table:
    """Show what a run would spend."""
    title = f"What {estimates[0].queries} queries would cost, from {estimates[0].sampled} rehearsed without a model"
    spent = ("calls", "prompt tokens", "completion tokens", "RET")
    table = Table("method", *(Column(label, justify="right") for label in spent), title=title)
    for item in estimates:
        ranges = (item.calls, item.prompt_tokens, item.completion_tokens, item.ret)
        table.add_row(Text(item.method), *(range_text(found) for found in ranges))
    return table


def range_text(found: Spread | None) -> str:
    """Write a range."""
    if found is None:
        return "not known"
    low, high = f"{found.least:,.0f}", f"{found.most:,.0f}"
    return low if low == high else f"{low} – {high}"
