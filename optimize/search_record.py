"""What the folder of a search says: what was searched, and every trial. A search that still runs can be read too."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue, NonNegativeInt, ValidationError

from metrics.metric import METRICS
from programs.errors import InputError

ABOUT, TRIALS = "search.json", "trials.jsonl"
LENIENT = ConfigDict(frozen=True, extra="ignore")
"""Files may say more than is read here."""


def _if_finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


Measure = Annotated[float | None, AfterValidator(_if_finite)]
"""What was measured, or nothing: a trial that failed or was pruned at once has no number."""


class Span(BaseModel):
    """The numbers that a parameter was searched over."""

    model_config = LENIENT
    low: float
    high: float
    step: float | None = None
    log: bool = False


class About(BaseModel):
    """What was searched: a method's space, and the two metrics that trials are compared by."""

    model_config = LENIENT
    method: str
    preset: str
    quality: str
    cost: str
    rule: str = ""
    seed: int
    trials: int | None = None
    """How many were asked for."""
    space: Mapping[str, list[JsonValue] | Span] = {}


class Objectives(BaseModel):
    """Quality, of which more is better, and cost, of which less is."""

    model_config = LENIENT
    quality: Measure = None
    cost: Measure = None


class TrialRecord(Objectives):
    """One setting of the parameters, and what it gave. Trial 0 is where the search starts."""

    number: NonNegativeInt
    state: Literal["complete", "pruned", "failed"]
    parameters: Mapping[str, JsonValue]
    by_workload: Mapping[str, Objectives] = {}
    queries: int | None = None
    seconds: Measure = None
    chosen: bool = False
    error: str | None = None

    @property
    def complete(self) -> bool:
        """Whether it was measured on every question, so that it can be compared."""
        return self.state == "complete" and self.quality is not None


@dataclass(frozen=True)
class SearchRecord:
    """A search and its trials, by number."""

    about: About
    trials: tuple[TrialRecord, ...]

    @property
    def complete(self) -> list[TrialRecord]:
        """The trials that can be compared."""
        return [trial for trial in self.trials if trial.complete]

    @property
    def ranked(self) -> list[TrialRecord]:
        """The trials that can be compared, best quality first, then least cost."""
        return sorted(self.complete, key=lambda trial: (-(trial.quality or 0.0), _cost(trial), trial.number))

    @property
    def chosen(self) -> TrialRecord | None:
        """The trial that the search's rule chose, once it has."""
        return next((trial for trial in self.trials if trial.chosen), None)

    @property
    def start(self) -> TrialRecord | None:
        """Where the search starts, if it could be measured."""
        return next((trial for trial in self.complete if trial.number == 0), None)

    @property
    def varied(self) -> list[str]:
        """The parameters that have more than one value among the trials that can be compared."""
        seen: dict[str, set[str]] = {}
        for trial in self.complete:
            for key, value in trial.parameters.items():
                seen.setdefault(key, set()).add(value_text(value))
        return [key for key, values in seen.items() if len(values) > 1]

    @property
    def workloads(self) -> list[str]:
        """The workloads of the trials, in the order in which they come."""
        return list(dict.fromkeys(name for trial in self.trials for name in trial.by_workload))

    def count(self, state: str) -> int:
        """Count the trials that ended so."""
        return sum(trial.state == state for trial in self.trials)

    def differences(self, trial: TrialRecord) -> dict[str, JsonValue]:
        """Give the parameters of a trial that are not as at the start; all, where that was not measured."""
        start = self.trials[0].parameters if self.trials and self.trials[0].number == 0 else {}
        return {key: value for key, value in trial.parameters.items() if key not in start or start[key] != value}


def read_search(folder: Path) -> SearchRecord:
    """Read a search's folder. The last line of a trial stands, and a last line that was cut short is no trial."""
    about = _about(folder / ABOUT)
    path = folder / TRIALS
    lines = _read(path).split(b"\n")
    found: dict[int, TrialRecord] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            trial = TrialRecord.model_validate_json(line)
        except ValidationError as error:
            if number == len(lines):
                break
            raise InputError(f"{path}:{number}: not a trial ({_first(error)}); take the line out") from error
        found[trial.number] = trial
    if not found:
        raise InputError(f"{path}: no trial is finished yet; wait for the first, or run the search again to go on")
    return SearchRecord(about, tuple(found[number] for number in sorted(found)))


def front(trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Give the trials that no other beats in quality without costing more, from the cheapest on."""
    best: list[TrialRecord] = []
    for trial in sorted(trials, key=lambda trial: (_cost(trial), -(trial.quality or 0.0), trial.number)):
        if trial.complete and trial.cost is not None and (not best or _better(trial, best[-1])):
            best.append(trial)
    return best


def qualities(trials: Iterable[TrialRecord]) -> list[float]:
    """Give the qualities of trials that have one."""
    return [trial.quality for trial in trials if trial.quality is not None]


def costs(trials: Iterable[TrialRecord]) -> list[float]:
    """Give the costs of trials that have one."""
    return [trial.cost for trial in trials if trial.cost is not None]


def best_so_far(trials: Sequence[TrialRecord]) -> list[tuple[int, float]]:
    """Give each trial that was better than all before it, as its number and quality."""
    steps: list[tuple[int, float]] = []
    for trial in trials:
        if trial.complete and trial.quality is not None and (not steps or trial.quality > steps[-1][1]):
            steps.append((trial.number, trial.quality))
    return steps


def metric_label(name: str) -> str:
    """Call a metric by its printed name, where it has one."""
    return METRICS[name].label if name in METRICS else name


def value_text(value: JsonValue) -> str:
    """Write a parameter's value as settings files do, without digits that nobody asked for."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.4g}"
    return json.dumps(value, ensure_ascii=False)


def _better(trial: TrialRecord, other: TrialRecord) -> bool:
    return (trial.quality or 0.0) > (other.quality or 0.0)


def _cost(trial: TrialRecord) -> float:
    return math.inf if trial.cost is None else trial.cost


def _about(path: Path) -> About:
    try:
        return About.model_validate_json(_read(path))
    except ValidationError as error:
        raise InputError(f"{path}: not the description of a search ({_first(error)})") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: can't be read ({error.strerror}); name the folder that a search was told to write to"
        ) from error


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else fault["msg"]
