"""Chooses prompts: `python -m optimize.prompts`. See --help for its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from programs.commands.terminal import open_models, plain_errors

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    method: Annotated[str, typer.Option(help="the method whose prompts are chosen")],
    workload: Annotated[str, typer.Option(help="one workload or several, with commas; its development questions")],
    optimizer: Annotated[str, typer.Option(help="gepa, mipro or bootstrap")],
    budget: Annotated[int, typer.Option(help="runs of the method on a question, at most")],
    out: Annotated[Path, typer.Option(help="the compiled file to write")],
    data: Annotated[Path | None, typer.Option(help="the folder that holds the workloads' files")] = None,
    questions: Annotated[Path | None, typer.Option(help="a file of development questions")] = None,
    limit: Annotated[int | None, typer.Option(help="the first N questions of each workload")] = None,
    train: Annotated[float, typer.Option(help="the share of questions to propose from; the rest choose")] = 0.5,
    seed: Annotated[int, typer.Option(help="the same seed chooses the same")] = 0,
    preset: Annotated[str, typer.Option(help="a preset by name, or a .toml settings file")] = "embedded",
    overrides: Annotated[list[str], typer.Option("--set", help="change a setting: key.sub=value")] = [],  # noqa: B006
    start: Annotated[Path | None, typer.Option(help="a compiled file to start from")] = None,
    reader: Annotated[bool, typer.Option(help="ask the reader, and choose its prompt too")] = False,
    quality: Annotated[str | None, typer.Option(help="the metric; title_mention, or f1 with --reader")] = None,
    good: Annotated[float, typer.Option(help="the score from which a run is shown as an example")] = 1.0,
    workers: Annotated[int, typer.Option(help="questions at once")] = 1,
    search: Annotated[Path | None, typer.Option(help="the search's folder; one below runs/search")] = None,
    completions: Annotated[Path | None, typer.Option(help="keep completions here; with the search by default")] = None,
    proposer_engine: Annotated[str, typer.Option(help="llama or server")] = "llama",
    proposer_model: Annotated[str | None, typer.Option(help="who proposes; the auxiliary model by default")] = None,
    proposer_url: Annotated[str | None, typer.Option(help="the server's address")] = None,
) -> None:
    """Choose the prompts of a method on development questions, and write them to a compiled file.

    Run the same command again to go on with a search that was stopped: what was answered is not asked again.
    """
    with plain_errors():
        from optimize.prompt_request import Request, run_search

        request = Request(
            method=method,
            workload=workload,
            optimizer=optimizer,
            budget=budget,
            out=out,
            data=data,
            questions=questions,
            limit=limit,
            train=train,
            seed=seed,
            preset=preset,
            overrides=overrides,
            start=start,
            reader=reader,
            quality=quality,
            good=good,
            workers=workers,
            search=search,
            completions=completions,
            proposer_engine=proposer_engine,
            proposer_model=proposer_model,
            proposer_url=proposer_url,
        )
        run_search(request, open_models)


if __name__ == "__main__":
    app()
