"""The folder of a search: what is searched, the finished trials, and nothing of a trial under way.

`study.sqlite` is optuna's own file, which its tools can open, and is what a search goes on from: a trial is added in
one transaction when it is finished. `trials.jsonl` says the same for people and figures, and is written again from the
study whenever a search begins or ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from optimize.options import STUDY
from optimize.parameters.sampling import DIRECTIONS, distributions
from optimize.parameters.trial import SlicedQuestions, Trial
from optimize.search_page import ABOUT, TRIALS, optuna_library
from programs.atomic import replacing, writing
from programs.errors import InputError
from programs.methods.space import Space

DEVELOPMENT = "development.json"
NAME = "parameters"
MAY_CHANGE = ("trials", "rule")
"""What a search may be gone on with another of."""
WORDS = {
    "development": "development questions",
    "settings": "settings",
    "space": "space",
    "models": "models",
    "start": "start",
}


class Study:
    """A search's finished trials, in their order. Open it with `open_study`."""

    def __init__(self, folder: Path, space: Space, questions: SlicedQuestions) -> None:
        self.folder = folder
        self._space = space
        self._questions = questions
        self._storage, self._study = _opened(folder / STUDY)
        self.trials = [_read(frozen.user_attrs) for frozen in self._study.trials]
        self.write_lines()

    def add(self, trial: Trial) -> None:
        """Keep a finished trial."""
        optuna = optuna_library()
        states = optuna.trial.TrialState
        state = {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}[trial.state]
        means = [self._questions.mean(trial.quality), self._questions.mean(trial.cost)]
        self._study.add_trial(
            optuna.trial.create_trial(
                state=state,
                values=means if trial.state == "complete" else None,
                params=dict(trial.drawn),
                distributions=distributions(self._space),
                user_attrs=_written(trial),
            )
        )
        self.trials.append(trial)
        path = self.folder / TRIALS
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(self.line(trial)) + "\n")

    def line(self, trial: Trial, chosen: bool = False) -> dict[str, Any]:
        """Say of a trial what `trials.jsonl` says."""
        return trial.line(self._questions, chosen)

    def write_lines(self, chosen: Trial | None = None) -> None:
        """Write all trials down for a reader, with the one that was chosen marked."""
        lines = [self.line(trial, trial is chosen) for trial in self.trials]
        with replacing(self.folder / TRIALS) as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())

    def close(self) -> None:
        """Close optuna's file."""
        _close(self._storage)


@contextmanager
def open_study(
    folder: Path, about: Mapping[str, Any], development: Mapping[str, Any], space: Space, questions: SlicedQuestions
) -> Iterator[Study]:
    """Open a search's folder, or begin it. One that holds another search is refused, and one that is in use."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be made ({error.strerror}); name another folder with --search") from error
    try:
        with FileLock(folder / ".lock", timeout=0):
            _settle(folder, json.loads(json.dumps(about)))
            _write(folder / DEVELOPMENT, development)
            study = Study(folder, space, questions)
            try:
                yield study
            finally:
                study.close()
    except Timeout as error:
        raise InputError(f"{folder}: another process is searching in it; wait for it, or name another") from error


def _settle(folder: Path, about: dict[str, Any]) -> None:
    """See that a folder is of this very search, and write down what it is of."""
    path = folder / ABOUT
    if path.exists():
        try:
            there = json.loads(path.read_bytes())
        except ValueError as error:
            raise InputError(f"{path}: not the description of a search; name another folder with --search") from error
        keys = [key for key in about if key not in MAY_CHANGE and about[key] != there.get(key)]
        if keys:
            raise InputError(
                f"{folder} holds a search with other {_differing(keys[0], there, about)}; "
                "name another folder with --search"
            )
    elif (folder / STUDY).exists():
        raise InputError(f"{folder} has a {STUDY} and no {ABOUT}; name another folder with --search")
    _write(path, about)


def _differing(key: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    if key in WORDS:
        return WORDS[key]
    return f"{key}: {there.get(key)!r}, not {here[key]!r}"


def _write(path: Path, value: Mapping[str, Any]) -> None:
    with replacing(path) as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")


def _opened(path: Path) -> tuple[Any, Any]:
    """Open optuna's file. It is made beside its place, since a kill while it is made would leave half of one."""
    optuna = optuna_library()
    from sqlalchemy.exc import SQLAlchemyError

    if not path.exists():
        draft = path.with_name(f".{path.name}")
        draft.unlink(missing_ok=True)
        storage = optuna.storages.RDBStorage(f"sqlite:///{draft}")
        optuna.create_study(study_name=NAME, storage=storage, directions=DIRECTIONS)
        _close(storage)
        draft.replace(path)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
        return storage, optuna.load_study(study_name=NAME, storage=storage)
    except (SQLAlchemyError, optuna.exceptions.OptunaError, RuntimeError, KeyError) as error:
        raise InputError(f"{path}: not the study of a search; name another folder with --search") from error


def _close(storage: Any) -> None:
    storage.remove_session()
    storage.engine.dispose()


def _written(trial: Trial) -> dict[str, Any]:
    """Give a trial as plain values; what optuna keeps of it in its own fields as well is kept twice."""
    return {
        "number": trial.number,
        "state": trial.state,
        "drawn": dict(trial.drawn),
        "parameters": dict(trial.parameters),
        "quality": _numbers(trial.quality),
        "cost": _numbers(trial.cost),
        "seconds": trial.seconds,
        "prompt_tokens": trial.prompt_tokens,
        "completion_tokens": trial.completion_tokens,
        "error": trial.error,
    }


def _read(written: Mapping[str, Any]) -> Trial:
    values = {key: tuple(float("nan") if v is None else v for v in written[key]) for key in ("quality", "cost")}
    return Trial(**{**written, **values})


def _numbers(values: Sequence[float]) -> list[float | None]:
    return [None if value != value else value for value in values]
