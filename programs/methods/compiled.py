"""A compiled program: the prompts, demonstrations and parameters that were chosen for a method on development data."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from programs.errors import InputError
from programs.methods.program import Program


class Prompt(BaseModel):
    """What was chosen for one predictor."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    instructions: str = Field(min_length=1)
    demos: tuple[dict[str, Any], ...] = Field((), description="worked examples, each with all fields of the signature")


class Compiled(BaseModel):
    """One file a method and preset."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: Literal[1] = 1
    method: str
    preset: str
    parameters: dict[str, Any] = Field({}, description="settings by dotted key")
    prompts: dict[str, Prompt] = Field({}, description="by the predictor's name in the program")

    @property
    def overrides(self) -> list[str]:
        """The parameters as `--set` would give them."""
        return [f"{key}={json.dumps(value)}" for key, value in self.parameters.items()]

    @property
    def digest(self) -> str:
        """The sha256 of what it says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def load_into(self, program: Program) -> None:
        """Give a program its prompts. Every predictor that the file names must be there."""
        predictors = dict(program.named_predictors())
        strange = sorted(set(self.prompts) - set(predictors))
        if strange:
            raise InputError(
                f"the compiled {self.method} has prompts for {', '.join(strange)}; "
                f"the program asks {', '.join(predictors)}: compile it again"
            )
        for name, prompt in self.prompts.items():
            predictor = predictors[name]
            predictor.signature = predictor.signature.with_instructions(prompt.instructions)
            predictor.demos = [_demo(predictor.signature, demo) for demo in prompt.demos]


def _demo(signature: Any, demo: dict[str, Any]) -> dspy.Example:
    """Read a worked example's values as the types of the signature's fields."""
    fields = signature.fields
    values = {
        name: TypeAdapter(fields[name].annotation).validate_python(value)
        for name, value in demo.items()
        if name in fields
    }
    return dspy.Example(**values)


def read_compiled(path: Path, method: str) -> Compiled:
    """Read a compiled file, or the one of a method in a folder of them."""
    file = path / f"{method}.json" if path.is_dir() else path
    try:
        compiled = Compiled.model_validate_json(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: can't be read ({error.strerror}); name a compiled file, or none") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{file}: not a compiled program: {where}: {first['msg']}") from error
    if compiled.method != method:
        raise InputError(f"{file}: compiled for {compiled.method}, not for {method}; name that method, or another file")
    return compiled
