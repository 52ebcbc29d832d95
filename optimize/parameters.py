"""Chooses parameters: `python -m optimize.parameters`. See --help for its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from programs.commands.terminal import open_models, plain_errors

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    method: Annotated[str, typer.Option(help="the method whose parameters are chosen")],
    workload: Annotated[str, typer.Option(help="one workload or several, with commas; its development questions")],
    trials: Annotated[int, typer.Option(help="settings to try, those that it starts from among them")],
    out: Annotated[Path, typer.Option(help="the compiled file to write")],
    data: Annotated[Path | None, typer.Option(help="the folder that holds the workloads' files")] = None,
    questions: Annotated[Path | None, typer.Option(help="a file of development questions")] = None,
    limit: Annotated[int | None, typer.Option(help="the first N questions of each workload")] = None,
    train: Annotated[float, typer.Option(help="the share of questions that is left to prompts; the rest choose")] = 0.5,
    seed: Annotated[int, typer.Option(help="the same seed chooses the same")] = 0,
    preset: Annotated[str, typer.Option(help="a preset by name, or a .toml settings file")] = "embedded",
    overrides: Annotated[list[str], typer.Option("--set", help="fix a setting: key.sub=value, unsearched")] = [],  # noqa: B006
    reader: Annotated[bool, typer.Option(help="ask the reader; otherwise evidence alone is judged")] = False,
    quality: Annotated[str | None, typer.Option(help="more is better: title_mention, or f1 with --reader")] = None,
    cost: Annotated[str, typer.Option(help="less is better")] = "ret",
    cheap: Annotated[bool, typer.Option(help="leave alone what makes an index ask a model again")] = False,
    workers: Annotated[int, typer.Option(help="questions at once")] = 1,
    search: Annotated[Path | None, typer.Option(help="the search's folder; runs/search/PRESET-METHOD")] = None,
    completions: Annotated[Path | None, typer.Option(help="keep completions here; with the search by default")] = None,
    start: Annotated[Path | None, typer.Option(help="a compiled file to start from, with its prompts")] = None,
    track: Annotated[str | None, typer.Option(help="wandb follows the trials, offline unless WANDB_MODE says")] = None,
) -> None:
    """Choose the parameters of a method on development questions, and write them to a compiled file.

    Run the same command again to go on with a search that was stopped, or with more --trials to go on with one that
    ended.
    """
    with plain_errors():
        from optimize.parameter_request import Request, run_search

        request = Request(
            method=method,
            workload=workload,
            trials=trials,
            out=out,
            data=data,
            questions=questions,
            limit=limit,
            train=train,
            seed=seed,
            preset=preset,
            overrides=overrides,
            reader=reader,
            quality=quality,
            cost=cost,
            cheap=cheap,
            workers=workers,
            search=search,
            completions=completions,
            start=start,
            track=track,
        )
        run_search(request, open_models)


if __name__ == "__main__":
    app()
