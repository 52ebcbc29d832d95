"""`reproduce`: every table and figure of the paper and the studies beside it, as one run that can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from programs.commands.ask import say_what_runs
from programs.commands.evaluation import check_split, range_text, run_shown
from programs.commands.funnel import load_funnels, write_pages, write_picture
from programs.commands.options import EvaluationRequest, ReproductionRequest
from programs.commands.terminal import err, out, say
from programs.errors import InputError, ModelUnavailable
from programs.models.cache.completions import kept
from programs.models.runtime import Runtime, open_unasked
from programs.report.bars import bars, duration
from programs.report.funnel_tables import funnel_tables
from programs.report.names import STATERAG, workload_label
from programs.report.terminal_tables import print_fitted
from programs.report.tracking import NoTracker
from programs.reproduce.hours import SECONDS_AN_HOUR, PlanLine, Rate, hours, measured_rate, stated_rate
from programs.reproduce.planned import RUNS, PlannedRun, Questions, planned_runs, without_libraries
from programs.reproduce.report import REPORT, Finished, has_begun, write_report
from programs.reproduce.studies import STUDIES, chosen_studies
from programs.runner.estimate import Spread, estimate
from programs.runner.evaluation import Evaluation
from programs.runner.folder import SUMMARY, RunFolder
from programs.selection.configured import ConfiguredMethod, configure
from programs.selection.leakage import open_selection

COMPLETIONS = "completions.sqlite"
"""What models answered on development questions, so that runs that ask the same ask once."""


@dataclass
class Reproduction:
    """What was asked for, and what can be run of it."""

    request: ReproductionRequest
    questions: Questions
    left_out: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: ReproductionRequest) -> Reproduction:
        """Settle on the split: without data there is the sample alone, which is for development."""
        if request.workers < 1 or request.stop_after < 1 or request.sample < 1:
            raise InputError("--workers, --stop-after and --sample count from 1")
        if request.data is not None and not request.data.is_dir():
            raise InputError(f"--data {request.data}: no such folder; name the one that holds the workloads' files")
        split = check_split(request.split or ("dev" if request.data is None else "eval"))
        if request.data is None and split == "eval":
            raise InputError("--split eval needs the workloads' files: name their folder with --data")
        return cls(request, Questions(request.data, split, request.limit, request.costly_limit))

    def runs(self, only: str | None) -> list[PlannedRun]:
        """Plan the runs of some parts, without methods that lack a library."""
        planned = planned_runs(chosen_studies(only), self.questions)
        self.left_out |= self.questions.left_out
        self.left_out |= without_libraries([run.method for run in planned])
        return self.possible(planned)

    def possible(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        """Leave out the methods that can't run."""
        return [run for run in runs if run.method not in self.left_out]

    def configured(self, run: PlannedRun) -> ConfiguredMethod:
        """Settle what a run's method runs with."""
        overrides = [*self.request.overrides, *run.arm.overrides]
        return configure(run.method, self.request.preset, overrides, self.request.compiled)

    def evaluation(self, run: PlannedRun) -> Evaluation:
        """Put a run's questions and its method together."""
        workload, method = self.questions.of(run.workload, run.method), self.configured(run)
        locked = workload.split == "eval" and method.file is not None
        return Evaluation(workload, (method,), open_selection(method.file) if locked and method.file else None)

    def as_eval(self, run: PlannedRun) -> EvaluationRequest:
        """Give what `eval` would be asked for to make this run."""
        asked = self.request
        return EvaluationRequest(
            method=run.method,
            workload=run.workload,
            out=run.folder(asked.out),
            resume=asked.resume,
            workers=max(asked.workers, run.arm.workers),
            stop_after=asked.stop_after,
        )

    def check_methods(self, runs: Sequence[PlannedRun], runtime: Runtime) -> None:
        """Leave out methods that lack a model, before anything is spent; one budget of evidence must do for all."""
        budgets: dict[str, int] = {}
        for run in {run.method: run for run in runs}.values():
            configured = self.configured(run)
            try:
                configured.open(runtime).close()
            except ModelUnavailable as error:
                self.left_out[run.method] = str(error)
                continue
            budgets[run.method] = configured.settings.lifecycle.reader_budget
        if len(set(budgets.values())) > 1:
            told = ", ".join(f"{name} {budget}" for name, budget in budgets.items())
            raise InputError(
                f"the methods would read different amounts of evidence ({told} tokens), which is no comparison; give "
                f"all of them one budget: --set lifecycle.reader_budget={min(budgets.values())}"
            )


def run_reproduction(request: ReproductionRequest, open_models: Callable[[Any], Runtime]) -> bool:
    """Do what `reproduce` was asked to; tell whether it came to anything."""
    asked = Reproduction.of(request)
    runs = asked.runs(request.only)
    if not request.plan and not request.resume and any(has_begun(run, request.out) for run in runs):
        raise InputError(f"{request.out}: already holds runs; go on with them by --resume, or name another --out")
    if request.data is None:
        say(err, "without --data the sample's questions stand in for every workload; the paper's values are of others")
    say_what_runs([asked.configured(run) for run in {run.method: run for run in runs}.values()])
    settings = asked.configured(runs[0]).settings
    models = open_unasked(settings) if request.plan and request.rate else open_models(settings)
    try:
        asked.check_methods(runs, models)
        runs = asked.possible(runs)
        for name, why in asked.left_out.items():
            say(err, f"left out: {name}: {why}")
        if request.plan:
            print_plan(asked, runs, models)
            return True
        run_all(asked, runs, models)
    finally:
        models.close()
    return report_all(asked)


def run_all(asked: Reproduction, runs: Sequence[PlannedRun], models: Runtime) -> None:
    """Make every run that has not ended. On development questions the runs share what models answered."""
    folder = asked.request.out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made ({error.strerror}); name another --out") from error
    shares = asked.questions.split == "dev"
    runtime = kept(models, folder / COMPLETIONS) if shares else models
    started = time.monotonic()
    try:
        for number, run in enumerate(runs, start=1):
            say(err, f"[{number}/{len(runs)}] {run.label}, {duration(time.monotonic() - started)} so far")
            evaluation = asked.evaluation(run)
            manifest = evaluation.manifest()
            if not has_ended(run.folder(folder), manifest.digest):
                run_shown(asked.as_eval(run), evaluation, manifest, runtime, NoTracker())
    except KeyboardInterrupt:
        say(err, f"{folder}: the same command with --resume goes on")
        raise
    finally:
        if shares:
            runtime.close()


def has_ended(folder: Path, digest: str) -> bool:
    """Tell whether this very run has ended there."""
    return (folder / SUMMARY).is_file() and RunFolder(folder).manifest.digest == digest


def report_all(asked: Reproduction) -> bool:
    """Report every run that is there, also of parts that were run before; tell whether any query was completed."""
    folder = asked.request.out
    planned = asked.possible(planned_runs(STUDIES, asked.questions))
    with bars(err):
        done = Finished.of(planned, folder)
        write_funnel(done, folder / REPORT)
        page = write_report(done, planned, asked.questions, asked.left_out)
    say(out, f"{page}: what held and what did not; tables and figures are beside it in {REPORT}/, the runs in {RUNS}/")
    if not done.has_answers:
        err.print(Text("no query of any run was completed, so the scores say nothing of the methods", style="red"))
    return done.has_answers


def write_funnel(done: Finished, folder: Path) -> None:
    """Draw where StateRAG loses gold evidence, on workloads that say what it is."""
    try:
        funnels = load_funnels([found.path for found in done.folders(STATERAG)], None, "half")
    except InputError:  # no reference names gold passages or sources
        return
    write_pages(funnel_tables(funnels), folder)
    write_picture(funnels, folder)


def print_plan(asked: Reproduction, runs: Sequence[PlannedRun], models: Runtime) -> None:
    """Rehearse each run without asking anybody, and say what all would spend."""
    with bars(err):
        rate = stated_rate(asked.request.rate) if asked.request.rate else measured_rate(models)
        lines = [plan_line(asked, run, models, rate) for run in runs]
    print_fitted(plan_table(lines), out)
    total = summed([line.hours for line in lines])
    spent = [line.estimate for line in lines if line.estimate is not None]
    prompts = summed([each.prompt_tokens for each in spent])
    completions = summed([each.completion_tokens for each in spent])
    whose = "as stated" if asked.request.rate else "as measured just now"
    say(
        out,
        f"{len(lines)} runs, {range_text(prompts)} tokens read and {range_text(completions)} written: "
        f"{hours_text(total)} one request at a time, reading {rate.read:,.0f} and writing "
        f"{rate.write:,.0f} tokens a second, {whose}. Finished runs count as nothing; "
        + (
            "what several runs ask alike is asked once, so it will be less."
            if asked.questions.split == "dev"
            else "--workers does several queries at once."
        ),
    )


def plan_line(asked: Reproduction, run: PlannedRun, models: Runtime, rate: Rate) -> PlanLine:
    """Estimate one run, unless it has ended."""
    evaluation = asked.evaluation(run)
    queries = len(evaluation.queries)
    folder = run.folder(asked.request.out)
    if has_begun(run, asked.request.out) and has_ended(folder, evaluation.manifest().digest):
        return PlanLine(run, queries, None, Spread(0.0, 0.0))
    started = time.perf_counter()
    [found] = estimate(evaluation, models, asked.request.sample)
    own = (time.perf_counter() - started) / (2 * found.sampled) * queries
    return PlanLine(run, queries, found, hours(found, rate, own))


def plan_table(lines: Sequence[PlanLine]) -> Table:
    """Show the planned runs with what each would spend."""
    numbers = ("n", "calls", "prompt tokens", "completion tokens", "RET", "time")
    table = Table("workload", "run", *(Column(label, justify="right") for label in numbers), title="What would run")
    for line in lines:
        name = line.run.method + (f", {line.run.arm.label}" if line.run.arm.label else "")
        found = line.estimate
        spent = (
            [range_text(each) for each in (found.calls, found.prompt_tokens, found.completion_tokens, found.ret)]
            if found
            else ["finished", "", "", ""]
        )
        table.add_row(
            Text(workload_label(line.run.workload)), Text(name), str(line.queries), *spent, hours_text(line.hours)
        )
    return table


def summed(spreads: Sequence[Spread]) -> Spread:
    """Add up what several runs spend."""
    return Spread(sum(each.least for each in spreads), sum(each.most for each in spreads))


def hours_text(found: Spread) -> str:
    """Write a length of time, or two between which it lies."""
    low, high = (duration(value * SECONDS_AN_HOUR) for value in (found.least, found.most))
    return low if low == high else f"{low} – {high}"
