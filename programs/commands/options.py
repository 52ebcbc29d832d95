"""A command's options, each said once: they are the fields of its request. Nothing heavy is imported here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

Preset = Annotated[str, typer.Option(help="a preset by name, or a .toml settings file")]
Overrides = Annotated[list[str], typer.Option("--set", help="change a setting: key.sub=value; may be repeated")]
CompiledPath = Annotated[
    Path | None,
    typer.Option("--compiled", help="a compiled program, a folder of them, or none; else what ships with the preset"),
]
Offline = Annotated[bool, typer.Option("--offline", help="let nothing leave this machine: a need to is an error")]
Request = TypeVar("Request")


@dataclass(frozen=True, kw_only=True)
class EvaluationRequest:
    """What `eval` is asked for."""

    method: Annotated[str, typer.Option(help="one method or several, with commas")]
    workload: Annotated[str, typer.Option(help="longbench/hotpotqa, qasper, corpus/musique, sample, own, …")]
    out: Annotated[Path | None, typer.Option(help="the run's folder; else runs/WORKLOAD-SPLIT")] = None
    data: Annotated[Path | None, typer.Option(help="the folder that holds the workloads' files")] = None
    split: Annotated[str, typer.Option(help="dev, or eval: a locked manifest by which nothing may be chosen")] = "dev"
    questions: Annotated[Path | None, typer.Option(help="a file of questions, yours or a benchmark's own")] = None
    limit: Annotated[int | None, typer.Option(help="the first N questions")] = None
    preset: Preset = "embedded"
    overrides: Overrides = field(default_factory=list)
    compiled: CompiledPath = None
    workers: Annotated[int, typer.Option(help="queries at once, for methods without memory between queries")] = 1
    no_reader: Annotated[bool, typer.Option("--no-reader", help="stop at the evidence")] = False
    resume: Annotated[bool, typer.Option("--resume", help="go on with the run in --out")] = False
    stop_after: Annotated[int, typer.Option(help="stop after so many queries in a row without a model")] = 5
    track: Annotated[str | None, typer.Option(help="wandb: also write an experiment log, offline by default")] = None
    estimate: Annotated[bool, typer.Option("--estimate", help="only say what the run would cost")] = False
    sample: Annotated[int, typer.Option(help="queries that an estimate rehearses")] = 5
    completions: Annotated[Path | None, typer.Option(help="on dev: keep completions here, and ask none twice")] = None
    offline: Offline = False

    @property
    def folder(self) -> Path:
        """Where the run is kept."""
        return self.out or Path("runs") / f"{self.workload.replace('/', '-')}-{self.split}"


@dataclass(frozen=True, kw_only=True)
class ReproductionRequest:
    """What `reproduce` is asked for."""

    out: Annotated[Path, typer.Option(help="the folder of its runs and of the report")]
    preset: Preset = "embedded"
    data: Annotated[
        Path | None, typer.Option(help="the folder that holds the workloads' files; else the sample stands in for all")
    ] = None
    limit: Annotated[int | None, typer.Option(help="the first N questions of each workload")] = None
    costly_limit: Annotated[
        int | None, typer.Option(help="the first N for methods that ask a model again and again; else as --limit")
    ] = None
    split: Annotated[str | None, typer.Option(help="eval, or dev; the sample is dev")] = None
    plan: Annotated[bool, typer.Option("--plan", help="only say what would run, with its tokens and hours")] = False
    only: Annotated[str | None, typer.Option(help="one part or several, with commas: main, ablations, …")] = None
    resume: Annotated[bool, typer.Option("--resume", help="go on with the runs in --out")] = False
    overrides: Overrides = field(default_factory=list)
    compiled: CompiledPath = None
    workers: Annotated[int, typer.Option(help="queries at once, for methods without memory between queries")] = 1
    stop_after: Annotated[int, typer.Option(help="stop after so many queries in a row without a model")] = 5
    rate: Annotated[
        str | None,
        typer.Option(
            help="for --plan: tokens a second read and written, as 2000,40, and no model is asked; else measured"
        ),
    ] = None
    sample: Annotated[int, typer.Option(help="for --plan: queries of each run that are rehearsed")] = 2
    offline: Offline = False


def command(request: type[Request], run: Callable[[Request], None]) -> Callable[..., None]:
    """Make a function whose parameters are the fields of a request, and which runs it."""

    def main(**options: Any) -> None:
        run(request(**options))

    hints = get_type_hints(request, include_extras=True)
    asked = fields(request)  # type: ignore[arg-type]
    main.__annotations__ = {one.name: hints[one.name] for one in asked}
    main.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=_default(one), annotation=hints[one.name]
            )
            for one in asked
        ]
    )
    return main


def _default(one: Any) -> Any:
    if one.default_factory is not MISSING:
        return one.default_factory()
    return inspect.Parameter.empty if one.default is MISSING else one.default
