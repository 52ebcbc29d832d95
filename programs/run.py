"""The command line: `python -m programs.run`."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from programs.errors import StateRAGError
from programs.settings import Settings, load_settings

if TYPE_CHECKING:
    from programs.models.runtime import Runtime

app = typer.Typer(
    help="Answers questions over documents, with a typed state that shows where each answer came from.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
)
out = Console()
err = Console(stderr=True)

Preset = Annotated[str, typer.Option(help="a preset by name, or a .toml settings file")]
Overrides = Annotated[list[str], typer.Option("--set", help="change a setting: key.sub=value; may be repeated")]


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn a fault that the user can mend into one line and exit code 2, and Ctrl-C into exit code 130."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    except StateRAGError as error:
        err.print(Text.assemble(("error: ", "bold red"), str(error)))
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        err.print("stopped")
        raise typer.Exit(130) from None


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in a line, without the place in the code that Python would show."""
    err.print(Text.assemble(("warning: ", "bold yellow"), str(message)))


@app.callback(invoke_without_command=True)
def sample(context: typer.Context, preset: Preset = "embedded", overrides: Overrides = []) -> None:  # noqa: B006
    """Without a command: answer the sample's questions, and show one query's states as they were committed."""
    if context.invoked_subcommand is None:
        with plain_errors():
            run_sample(load_settings(preset, overrides))


def run_sample(settings: Settings) -> None:
    """Run StateRAG over the sample that ships with the project."""
    from metrics.answers import containment_accuracy
    from metrics.evidence import source_recall
    from programs.methods.staterag import StateRAG
    from programs.report.bars import bars
    from programs.report.console import print_record, print_states, results_table
    from programs.workloads.sample import load_sample

    sample = load_sample()
    program = StateRAG(open_models(settings), workload="sample")
    rows = []
    try:
        with bars(err) as show:
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
    out.rule("One query, state by state")
    print_states(shown, out)
    print_record(shown, out)
    out.rule()
    out.print(results_table(rows))
    total = sum(row[2] for row in rows)
    out.print(f"{total} of {len(rows)} questions right (containment accuracy); preset {settings.preset}")


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="what to ask")],
    docs: Annotated[list[Path], typer.Option("--docs", help="a text or Markdown file, or a folder of them")],
    more: Annotated[list[Path] | None, typer.Argument(help="further files, so that --docs *.md works")] = None,
    preset: Preset = "embedded",
    overrides: Overrides = [],  # noqa: B006
    as_json: Annotated[bool, typer.Option("--json", help="print the query's record alone to stdout")] = False,
    states: Annotated[bool, typer.Option("--states", help="also show the states as they were committed")] = False,
) -> None:
    """Answer a question over your documents, with the evidence's file and character offsets."""
    with plain_errors():
        from programs.documents.text import load_documents
        from programs.methods.staterag import StateRAG
        from programs.report.bars import bars
        from programs.report.console import print_record, print_states
        from programs.workloads.query import Query, check_question

        settings = load_settings(preset, overrides)
        check_question(question)
        collection = load_documents([*docs, *(more or [])])
        program = StateRAG(open_models(settings))
        query = Query(query_id="ask", question=question, collection=collection, position=0)
        with bars(err):
            record = program.run(query)
        if as_json:
            sys.stdout.write(record.model_dump_json() + "\n")
        else:
            if states:
                print_states(record, out)
            print_record(record, out)
        if record.status != "completed":
            raise typer.Exit(1)


@app.command()
def models(
    action: Annotated[str, typer.Argument(help="list, pull or check")] = "list",
    names: Annotated[list[str] | None, typer.Argument(help="models; none means those of the preset")] = None,
    preset: Preset = "embedded",
) -> None:
    """List the models of the catalogue, fetch their weights, or check their sha256."""
    with plain_errors():
        from programs.models import weights

        if action == "list":
            out.print(models_table())
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
    from programs.models.catalogue import find

    named = [settings.reader.model, settings.auxiliary.model, settings.encoder.model, settings.cross_encoder.model]
    return [name for name in dict.fromkeys(named) if find(name)]


def open_models(settings: Settings) -> Runtime:
    """Load the models of the settings, fetching weights that are not there yet."""
    from programs.models.runtime import open_runtime

    with err.status("loading models …"):
        return open_runtime(settings)


def models_table() -> Table:
    """Tabulate the catalogue with what is on this machine."""
    from programs.models import weights
    from programs.models.catalogue import find

    table = Table("model", "kind", "size", "here", "licence")
    for item in weights.status():
        entry = find(item.name)
        assert entry is not None  # status goes through the catalogue
        here = "verified" if item.verified else "yes" if item.present else "no"
        table.add_row(item.name, entry.kind, f"{entry.size / 1e6:.0f} MB", here, entry.licence)
    return table


if __name__ == "__main__":
    app()
