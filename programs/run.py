"""The command line: `staterag`, or `python -m programs.run`."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from programs.commands.options import (
    CompiledPath,
    EvaluationRequest,
    Offline,
    Overrides,
    Preset,
    ReproductionRequest,
    command,
)
from programs.commands.terminal import open_models, out, plain_errors
from programs.errors import InputError, StateRAGError
from programs.models import network
from programs.settings import Settings, load_settings

NOT_FOUND = 3
"""The exit code of a question that the documents do not answer."""

app = typer.Typer(
    help="Answers questions over documents, with a typed state that shows where each answer came from.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def sample(
    context: typer.Context,
    preset: Preset = "embedded",
    overrides: Overrides = [],  # noqa: B006
    compiled: CompiledPath = None,
    offline: Offline = False,
) -> None:
    """Without a command: answer the sample's questions, and show one query's states as they were committed."""
    context.with_resource(network.offline(offline))
    if context.invoked_subcommand is None:
        with plain_errors():
            from programs.commands.ask import run_sample, say_what_runs
            from programs.selection.configured import configure

            configured = configure("staterag", preset, overrides, compiled)
            say_what_runs([configured])
            with closing(open_models(configured.settings)) as runtime:
                run_sample(configured, runtime)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="what to ask")],
    docs: Annotated[list[Path], typer.Option("--docs", help="a text or Markdown file, or a folder of them")],
    more: Annotated[list[Path] | None, typer.Argument(help="further files, so that --docs *.md works")] = None,
    method: Annotated[str, typer.Option(help="the method that answers")] = "staterag",
    preset: Preset = "embedded",
    overrides: Overrides = [],  # noqa: B006
    compiled: CompiledPath = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="keep the record here, in the layout of a run")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the query's record alone to stdout")] = False,
    states: Annotated[bool, typer.Option("--states", help="also show the states as they were committed")] = False,
    full: Annotated[bool, typer.Option("--full", help="also show every record that was read")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="also show regions, tokens and seconds")] = False,
    best_guess: Annotated[bool, typer.Option("--best-guess", help="give an answer even if it was not found")] = False,
    offline: Offline = False,
    strict: Annotated[bool, typer.Option("--strict", help="refuse a folder with a file that can't be used")] = False,
) -> None:
    """Answer a question over your documents, with the evidence's file and character offsets."""
    with plain_errors(), network.offline(offline):
        from programs.api.documents import documents
        from programs.commands.ask import answer, say_what_runs
        from programs.report.answer import is_not_found, print_answer
        from programs.report.console import print_states
        from programs.selection.configured import configure
        from programs.workloads.query import check_question

        configured = configure(method, preset, overrides, compiled)
        say_what_runs([configured])
        check_question(question)
        collection = documents([*docs, *(more or [])], strict=strict)
        with closing(open_models(configured.settings)) as runtime:
            record = answer(configured, runtime, question, collection, out_folder)
        if as_json:
            sys.stdout.write(record.model_dump_json() + "\n")
        else:
            if states:
                print_states(record, out)
            print_answer(record, out, collection.texts, full=full, verbose=verbose, best_guess=best_guess)
        if not record.is_complete:
            raise typer.Exit(1)
        if is_not_found(record) and not best_guess:
            raise typer.Exit(NOT_FOUND)


def evaluate(request: EvaluationRequest) -> None:
    with plain_errors(), network.offline(request.offline):
        from programs.commands.evaluation import run_evaluation

        if not run_evaluation(request, open_models):
            raise typer.Exit(1)


app.command(
    "eval", help="Run methods on a workload into a folder of records that can be resumed, compared and reported."
)(command(EvaluationRequest, evaluate))


def reproduce(request: ReproductionRequest) -> None:
    with plain_errors(), network.offline(request.offline):
        from programs.commands.reproduction import run_reproduction

        if not run_reproduction(request, open_models):
            raise typer.Exit(1)


app.command("reproduce", help="Run the paper's studies and ours, every table and figure, and say what held.")(
    command(ReproductionRequest, reproduce)
)


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs on the same questions")],
    reference: Annotated[str | None, typer.Option(help="the method that others are compared with")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="metrics to compare; may be repeated")] = None,
) -> None:
    """Compare methods query by query: paired intervals, tests, and Holm's correction over all of them."""
    with plain_errors():
        from programs.commands.analysis import compare_runs

        compare_runs(runs, reference, metric)


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs")],
    out: Annotated[Path | None, typer.Option(help="where tables and figures go; else report/ in the first run")] = None,
    into: Annotated[Path | None, typer.Option(help="only write one table, between its marks in this page")] = None,
    table: Annotated[str | None, typer.Option(help="the table's name in the page's marks, with --into")] = None,
) -> None:
    """Write the paper's tables (Markdown, LaTeX, CSV) and figures (SVG, PNG) for these runs."""
    with plain_errors():
        from programs.commands.analysis import report_into, report_runs

        if into is None and table is None:
            report_runs(runs, out or runs[0] / "report")
        elif into is None or table is None or out is not None:
            raise InputError("--into PAGE and --table NAME go together, without --out")
        else:
            report_into(runs, into, table)


@app.command()
def funnel(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs")],
    method: Annotated[str | None, typer.Option(help="one method or several, with commas; else all")] = None,
    by: Annotated[str, typer.Option(help="what a passage must have there: half of it, or its title")] = "half",
    out: Annotated[Path | None, typer.Option(help="where funnel.md, .csv, .svg and .png go")] = None,
) -> None:
    """Show where gold evidence is lost on its way to the reader, by question type, and what the Verifier made of it."""
    with plain_errors():
        from programs.commands.funnel import funnel_runs

        funnel_runs(runs, method, by, out)


@app.command()
def models(
    action: Annotated[str, typer.Argument(help="list, pull or check")] = "list",
    names: Annotated[list[str] | None, typer.Argument(help="models; none means those of the preset")] = None,
    preset: Preset = "embedded",
    offline: Offline = False,
) -> None:
    """List the models of the catalogue, fetch their weights, or check their sha256."""
    with plain_errors(), network.offline(offline):
        from programs.models.weights import fetch as weights
        from programs.report.terminal_tables import print_fitted

        if action == "list":
            print_fitted(models_table(), out)
            return
        chosen = names or models_of(load_settings(preset))
        for name in chosen:
            if action == "pull":
                out.print(f"{name}: {weights.fetch(name)}")
            elif action == "check":
                weights.check(name)
                out.print(f"{name}: every file has its sha256")
            else:
                raise StateRAGError(f"models knows list, pull and check, not {action!r}")


@app.command("settings")
def show_settings(preset: Preset = "embedded", overrides: Overrides = []) -> None:  # noqa: B006
    """Print a preset's settings, with overrides applied, as JSON."""
    with plain_errors():
        sys.stdout.write(json.dumps(load_settings(preset, overrides).model_dump(mode="json"), indent=2) + "\n")


def models_of(settings: Settings) -> list[str]:
    """Name the catalogue's models that a preset uses."""
    from programs.models.weights.catalogue import find

    named = [settings.reader.model, settings.auxiliary.model, settings.encoder.model, settings.cross_encoder.model]
    return [name for name in dict.fromkeys(named) if find(name)]


def models_table() -> Table:
    """Tabulate the catalogue with what is on this machine."""
    from programs.models.weights import fetch as weights
    from programs.models.weights.catalogue import find

    table = Table("model", "kind", Column("MB", justify="right"), "here", "licence")
    for item in weights.status():
        entry = find(item.name)
        assert entry is not None  # status goes through the catalogue
        here = "verified" if item.verified else "yes" if item.present else "no"
        table.add_row(item.name, entry.kind, f"{entry.size / 1e6:.0f}", here, entry.licence)
    return table


if __name__ == "__main__":
    app()
