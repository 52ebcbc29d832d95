"""The options that all searches have, each said once: the fields of a request are the command's options.

Nothing heavy is imported here, so that --help is quick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Protocol, TypeVar

import typer

from programs.commands.options import Offline, Preset, command
from programs.commands.terminal import plain_errors
from programs.models.network import offline


class _MayStayHere(Protocol):
    """What every request has."""

    @property
    def offline(self) -> bool: ...


Asked = TypeVar("Asked", bound=_MayStayHere)
STUDY, COMPLETIONS = "study.sqlite", "completions.sqlite"
"""Files of a search's folder: the finished trials of a search for parameters, and what models answered."""


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """What every search is asked for: a method, its development questions, and where the outcome goes."""

    method: Annotated[str, typer.Option(help="the method to choose for")]
    workload: Annotated[str, typer.Option(help="one workload or several, with commas; its development questions")]
    out: Annotated[Path, typer.Option(help="the compiled file to write")]
    data: Annotated[Path | None, typer.Option(help="the folder that holds the workloads' files")] = None
    questions: Annotated[Path | None, typer.Option(help="a file of development questions")] = None
    limit: Annotated[int | None, typer.Option(help="the first N questions of each workload")] = None
    train: Annotated[float, typer.Option(help="the share of questions to propose prompts from; the rest choose")] = 0.5
    seed: Annotated[int, typer.Option(help="the same seed chooses the same")] = 0
    preset: Preset = "embedded"
    overrides: Annotated[list[str], typer.Option("--set", help="fix a setting: key.sub=value, unsearched")] = field(
        default_factory=list
    )
    reader: Annotated[bool, typer.Option(help="ask the reader; otherwise evidence alone is judged")] = False
    quality: Annotated[str | None, typer.Option(help="more is better: title_mention, or f1 with --reader")] = None
    workers: Annotated[int, typer.Option(help="questions at once")] = 1
    search: Annotated[Path | None, typer.Option(help="the search's folder; one below runs/search by default")] = None
    completions: Annotated[Path | None, typer.Option(help="keep completions here; with the search by default")] = None
    start: Annotated[Path | None, typer.Option(help="a compiled file to start from, with its prompts")] = None
    offline: Offline = False

    @property
    def folder(self) -> Path:
        return self.search or Path("runs/search") / f"{Path(self.preset).stem}-{self.method}{self.kind}"

    @property
    def kind(self) -> str:
        """What sets this search's own folder apart from others of the same method."""
        return ""

    @property
    def kept_completions(self) -> Path:
        return self.completions or self.folder / COMPLETIONS

    @property
    def metric(self) -> str:
        """The quality to search by."""
        return self.quality or ("f1" if self.reader else "title_mention")


@dataclass(frozen=True, kw_only=True)
class ParameterRequest(SearchRequest):
    """A search for parameters."""

    trials: Annotated[int, typer.Option(help="settings to try, those that it starts from among them")]
    cost: Annotated[str, typer.Option(help="less is better")] = "ret"
    cheap: Annotated[bool, typer.Option(help="leave alone what makes an index ask a model again")] = False
    track: Annotated[str | None, typer.Option(help="wandb follows the trials, offline unless WANDB_MODE says")] = None


@dataclass(frozen=True, kw_only=True)
class PromptRequest(SearchRequest):
    """A search for prompts."""

    optimizer: Annotated[str, typer.Option(help="gepa, mipro or bootstrap")]
    budget: Annotated[int, typer.Option(help="runs of the method on a question, at most")]
    good: Annotated[float, typer.Option(help="the score from which a run is shown as an example")] = 1.0
    proposer_engine: Annotated[str, typer.Option(help="llama or server")] = "llama"
    proposer_model: Annotated[str | None, typer.Option(help="who proposes; the auxiliary model by default")] = None
    proposer_url: Annotated[str | None, typer.Option(help="the server's address")] = None

    @property
    def kind(self) -> str:
        """Each optimiser has a folder of its own."""
        return f"-{self.optimizer}"


def program(request: type[Asked], search: Callable[[Asked], None], told: str) -> typer.Typer:
    """Make the command line of a search. `told` is its help."""

    def run(asked: Asked) -> None:
        with plain_errors(), offline(asked.offline):
            search(asked)

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(help=told)(command(request, run))
    return app
