"""One run of Weights & Biases, for whoever tracks something with it.

It writes into the folder of what it tracks and stays offline unless WANDB_MODE says otherwise. Nobody is asked to log
in. Texts of documents and models are cells of a table, never markup.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from programs.errors import InputError
from programs.models.network import Outbound, announce

if TYPE_CHECKING:
    from wandb import Run

PROJECT = "staterag"
ONLINE = ("online", "run", "shared")
OFFLINE = ("offline", "dryrun", "disabled")


class WandbRun:
    """A run that is opened once, logged to, and closed with all that was made. W&B is imported with the first."""

    def __init__(self, folder: Path, project: str = PROJECT, name: str | None = None) -> None:
        self.wandb = _import_wandb()
        self._mode = _mode()
        if self._mode in ONLINE:
            announce(_outbound(self.wandb))
        self._folder = folder
        self._project = project
        self._name = name or folder.resolve().name
        self._contained = ExitStack()
        self._run: Run | None = None

    def open(self, config: Mapping[str, Any]) -> None:
        """Begin, with what is known before."""
        with ExitStack() as until_closed:
            until_closed.enter_context(_kept_within(self._folder))
            self._run = self._start(self._mode, dict(config))
            self._contained = until_closed.pop_all()

    @property
    def run(self) -> Run:
        """The open run."""
        if self._run is None:
            raise RuntimeError("the tracker was not begun, or is finished")
        return self._run

    def log(self, values: Mapping[str, Any], step: int) -> None:
        """Log numbers and texts at a step; steps rise."""
        self.run.log(dict(values), step=step)

    def close(
        self,
        kind: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[Any]],
        summary: Mapping[str, Any],
        files: Sequence[Path],
    ) -> None:
        """Log a table under its kind, the summary, PNG files as images, and all files as an artifact."""
        run = self.run
        table = self.wandb.Table(columns=list(columns), data=[list(row) for row in rows], allow_mixed_types=True)
        images = {f"figures/{path.stem}": self.wandb.Image(str(path)) for path in files if path.suffix == ".png"}
        run.log({kind: table, **images})
        run.summary.update(dict(summary))
        artifact = self.wandb.Artifact(f"run-{run.id}", type=kind)
        for path in files:
            artifact.add_file(str(path))
        run.log_artifact(artifact)
        run.finish()
        self.wandb.teardown()  # what is still in W&B's own process is on the disk after this
        self._run = None
        self._contained.close()

    def _start(self, mode: str, config: dict[str, Any]) -> Run:
        try:
            if mode in ONLINE and not self.wandb.login(prompt=False):
                raise InputError(f"WANDB_MODE is {mode}, but W&B has no key; run `wandb login`, or unset WANDB_MODE")
            run: Run = self.wandb.init(
                project=self._project,
                name=self._name,
                dir=str(self._folder),
                mode=mode,
                config=config,
                settings=_silent(self.wandb),
            )
        except self.wandb.errors.Error as error:
            raise InputError(f"W&B did not start: {error}; leave tracking out, or mend WANDB_MODE") from error
        return run


def _import_wandb() -> ModuleType:
    try:
        import wandb
    except ImportError as error:
        raise InputError("tracking needs W&B, which is not installed; pip install 'staterag[tracking]'") from error
    return wandb


def _mode() -> str:
    mode = os.environ.get("WANDB_MODE") or "offline"
    if mode not in ONLINE + OFFLINE:
        raise InputError(f"WANDB_MODE is {mode!r}; W&B knows {', '.join(ONLINE + OFFLINE)}")
    return mode


def _outbound(wandb: ModuleType) -> Outbound:
    """Say where W&B will go by its files and variables, as it reads them itself when it starts."""
    settings = wandb.Settings()
    settings.update_from_system_settings()
    settings.update_from_env_vars(dict(os.environ))
    return Outbound(
        told="experiment tracking: settings, questions, answers, scores and records go to",
        address=str(settings.base_url),
        instead="unset WANDB_MODE, which keeps the log on this machine, or leave tracking out",
    )


def _silent(wandb: ModuleType) -> Any:
    """Let W&B print nothing, since bars are on the screen, and note nothing of the machine."""
    return wandb.Settings(
        silent=True,
        console="off",
        disable_code=True,
        disable_git=True,
        x_disable_machine_info=True,
        x_disable_meta=True,
        x_disable_stats=True,
    )


@contextmanager
def _kept_within(folder: Path) -> Iterator[None]:
    """Point W&B's caches into the folder and keep it quiet, unless the user has said otherwise.

    Only variables can say so: its settings do not reach the parts that print before a run is open.
    """
    places = {f"WANDB_{what}_DIR": folder / "wandb" / what.lower() for what in ("CACHE", "DATA", "ARTIFACT")}
    wanted = {name: str(place.resolve()) for name, place in places.items()}
    wanted |= {"WANDB_SILENT": "true", "WANDB_DISABLE_WEAVE": "true", "WANDB_ERROR_REPORTING": "false"}
    ours = {name: value for name, value in wanted.items() if name not in os.environ}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: the folder can't be made ({error.strerror}); name another") from error
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
