"""A compiled program: the prompts, demonstrations and parameters that were chosen for a method on development data.

It is one JSON file a method and preset, and says how it was chosen, so that an evaluation can tell what it has seen.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import dspy
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from programs.atomic import replacing
from programs.errors import InputError
from programs.frozen import Frozen
from programs.json_file import faults, read_whole
from programs.methods.base import Program
from programs.models.identity import ModelIdentity, model_identities, named_models
from programs.selection.declared import check_names, check_values
from programs.settings import Settings, load_settings, preset_names
from programs.workloads.hashes import SeenHashes

READER = "reader."
"""How the names of the shared reader's predictors begin."""
LARGEST = 32 * 2**20
"""Bytes of a compiled file: prompts, and hashes of what a selection on a large corpus saw."""
LONGEST = 100_000
"""Characters of an instruction."""


def _plain(value: Any) -> Any:
    """A group of settings is no value: each of them is set by its own name."""
    if not isinstance(value, bool | int | float | str | None) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        raise ValueError("a number, a text, true, false or null was expected")
    return value


Value = Annotated[Any, AfterValidator(_plain)]
"""What a setting may be set to."""


class CompiledPart(Frozen):
    """A part of a compiled file."""

    model_config = ConfigDict(allow_inf_nan=False)


class MeasuredMean(CompiledPart):
    """A mean over `n` questions, with its confidence interval where there are enough of them."""

    mean: float
    low: float | None = None
    high: float | None = None
    n: int = Field(ge=0)


class Spent(CompiledPart):
    """What a selection cost."""

    trials: int = Field(ge=0)
    queries: int = Field(ge=0, description="questions that a program was run on, replayed or not")
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    seconds: float = Field(ge=0)

    def plus(self, later: Spent) -> Spent:
        """Add what was spent afterwards."""
        return Spent(
            trials=self.trials + later.trials,
            queries=self.queries + later.queries,
            prompt_tokens=self.prompt_tokens + later.prompt_tokens,
            completion_tokens=self.completion_tokens + later.completion_tokens,
            seconds=round(self.seconds + later.seconds, 3),
        )


class Choice(CompiledPart):
    """How a compiled program was chosen."""

    by: str = Field(min_length=1, description="the optimiser")
    objective: str = Field(min_length=1, description="what it was chosen for, in order")
    rule: str = Field(min_length=1, description="how one was picked off the Pareto front, as a sentence")
    seed: int
    development: str = Field(min_length=1, description="digest of the development questions and of their split")
    workloads: tuple[str, ...] = Field(min_length=1)
    train: int = Field(ge=0, description="questions that were proposed from")
    validation: int = Field(ge=1, description="questions that were chosen by")
    seen: SeenHashes
    scores: dict[str, dict[str, MeasuredMean]] = Field(description="workload, or macro, to metric, on validation")
    baseline: dict[str, dict[str, MeasuredMean]] = Field({}, description="the same for what the search started from")
    models: tuple[ModelIdentity, ...]
    spent: Spent

    def after(self, before: Choice | None) -> Choice:
        """Say how it was chosen if it started from what an earlier choice had found, whose story is then part of it.

        What the earlier one began with is kept only where it was measured on the same questions.
        """
        if before is None:
            return self
        return self.model_copy(
            update={
                "by": f"{before.by}, then {self.by}",
                "seen": before.seen.merge(self.seen),
                "baseline": before.baseline if before.development == self.development else {},
                "spent": before.spent.plus(self.spent),
            }
        )

    def unlike(self, settings: Settings) -> list[str]:
        """Say which models of some settings are others than it was chosen with. Weights are hashed if names agree."""
        return _others(self.models, named_models(settings)) or _others(self.models, model_identities(settings))


class Prompt(CompiledPart):
    """What was chosen for one predictor."""

    instructions: str = Field(min_length=1, max_length=LONGEST)
    demos: tuple[dict[str, Any], ...] = Field((), description="worked examples, each with all fields of the signature")


class Compiled(CompiledPart):
    """One file a method and preset."""

    version: Literal[1] = 1
    method: str
    preset: str
    parameters: dict[str, Value] = Field({}, description="settings by dotted key, of those that the method declares")
    prompts: dict[str, Prompt] = Field({}, description="by the predictor's name in the program")
    choice: Choice | None = Field(None, description="how it was chosen; a file written by hand has none")

    @property
    def overrides(self) -> list[str]:
        """The parameters as `--set` would give them."""
        return [f"{key}={json.dumps(value)}" for key, value in self.parameters.items()]

    @property
    def digest(self) -> str:
        """The sha256 of what a program runs with; how that was chosen is not part of it."""
        return hashlib.sha256(self.model_dump_json(exclude={"choice"}).encode()).hexdigest()

    def load_into(self, program: Program) -> None:
        """Give a program its prompts. Every predictor that the file names must be there, but a reader nobody asks.

        A variant of the method that it is compiled for may lack predictors: those of what was removed. Where it asks
        for another form of answer, an example of the old form is left out.
        """
        predictors = dict(program.named_predictors())
        reads = program.settings.lifecycle.answer
        prompts = {name: prompt for name, prompt in self.prompts.items() if reads or not name.startswith(READER)}
        if program.name != self.method:
            prompts = {name: prompt for name, prompt in prompts.items() if name in predictors}
        strange = sorted(set(prompts) - set(predictors))
        if strange:
            raise InputError(
                f"the compiled {self.method} has prompts for {', '.join(strange)}; "
                f"the program asks {', '.join(predictors)}: compile it again, or run it without by --compiled none"
            )
        for name, prompt in prompts.items():
            predictor = predictors[name]
            predictor.signature = predictor.signature.with_instructions(prompt.instructions)
            fields = set(predictor.signature.fields)
            fitting = [demo for demo in prompt.demos if program.name == self.method or fields <= set(demo)]
            predictor.demos = [self._demo(name, predictor.signature, demo) for demo in fitting]

    def _demo(self, name: str, signature: Any, demo: dict[str, Any]) -> dspy.Example:
        """Read a worked example's values as the types of the signature's fields."""
        fields = signature.fields
        try:
            values = {
                key: TypeAdapter(fields[key].annotation).validate_python(value)
                for key, value in demo.items()
                if key in fields
            }
        except ValidationError as error:
            raise InputError(f"the compiled {self.method}: a worked example of {name}: {faults(error)}") from error
        return dspy.Example(**values)


def _others(chosen: Sequence[ModelIdentity], models: Sequence[ModelIdentity]) -> list[str]:
    parts = {entry.part: entry for entry in chosen}
    pairs = [(entry, parts.get(entry.part)) for entry in models]
    return [f"{entry}, not {other}" for entry, other in pairs if other is None or not entry.may_be(other)]


class CompiledFile(NamedTuple):
    """A compiled program, and the sha256 of the very bytes that it was read from."""

    compiled: Compiled
    sha256: str


def read_file(path: Path, preset: str | None = None) -> CompiledFile:
    """Read a compiled file and check that it sets nothing but what its method declares.

    `preset` is the one that it is to run with, where that is known: a file of the user's may have values of its own.
    """
    data = read_whole(path, "name a compiled file, or none", LARGEST)
    try:
        compiled = Compiled.model_validate_json(data)
        check_names(compiled.method, compiled.parameters)
        start = _preset(compiled, preset)
        if start is not None:
            check_values(compiled.method, compiled.parameters, start)
    except ValidationError as error:
        raise InputError(f"{path}: not a compiled program: {faults(error)}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return CompiledFile(compiled, hashlib.sha256(data).hexdigest())


def _preset(compiled: Compiled, preset: str | None) -> Settings | None:
    """Load the preset that a program is compiled for, as far as it is known which one is meant."""
    if preset is not None and Path(preset).stem == compiled.preset:
        return load_settings(preset)
    return load_settings(compiled.preset) if compiled.preset in preset_names() else None


def read_compiled(path: Path, method: str, preset: str | None = None) -> Compiled:
    """Read a compiled file, or the one of a method in a folder of them."""
    file = path / f"{method}.json" if path.is_dir() else path
    compiled = read_file(file, preset).compiled
    if compiled.method != method:
        raise InputError(f"{file}: compiled for {compiled.method}, not for {method}; name that method, or another file")
    return compiled


def write_compiled(path: Path, compiled: Compiled) -> None:
    """Write a compiled file; the same program is always the same bytes."""
    write_sorted(path, compiled)


def write_sorted(path: Path, content: Frozen) -> None:
    """Write JSON for people and for hashes, whole or not at all."""
    text = json.dumps(content.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(text.encode() + b"\n")
    except OSError as error:
        raise InputError(f"{path}: can't be written ({error.strerror}); name another place") from error


def shipped(preset: str, method: str) -> Path | None:
    """Find the compiled file that comes with the project. A preset that is a file of the user's has none."""
    if preset not in preset_names():
        return None
    path = shipped_folder() / preset / f"{method}.json"
    return path if path.is_file() else None


def shipped_folder() -> Path:
    """Give the place of the compiled files that come with the project, a folder a preset."""
    return Path(str(resources.files("optimize"))) / "compiled"
