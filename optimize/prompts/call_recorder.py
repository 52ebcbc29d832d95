"""Sees every call that a program makes of its predictors, those among them whose completion could not be used.

DSPy's own trace has the calls that succeeded. What an optimiser most needs to be told of is the others.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel

from programs.content_key import content_key
from programs.methods.base import Program


@dataclass(frozen=True)
class RecordedCall:
    """One call: the predictor's name, what it was given, and what it returned."""

    predictor: str
    inputs: dict[str, Any]
    outputs: dict[str, Any] | None
    """None where the completion could not be used."""
    said: str
    """What came back, as text."""

    @property
    def key(self) -> str:
        """A name of the call by what it was given."""
        return content_key(self.predictor, json.dumps(plain(self.inputs), sort_keys=True))


@dataclass
class CallRecorder(BaseCallback):  # type: ignore[misc]
    """Hears of the calls of one program while it runs one query."""

    _names: dict[int, str] = field(default_factory=dict)
    _under_way: dict[str, tuple[str, Any, dict[str, Any]]] = field(default_factory=dict)
    _steps: list[RecordedCall] = field(default_factory=list)

    @property
    def steps(self) -> tuple[RecordedCall, ...]:
        """The calls, in an order that does not hang on which of several threads was first."""
        return tuple(sorted(self._steps, key=lambda step: (step.predictor, step.key)))

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Learn the predictors' names from the program, and note the inputs of a predictor."""
        if isinstance(instance, Program):
            self._names = {id(predictor): name for name, predictor in instance.named_predictors()}
        elif id(instance) in self._names:
            given = inputs.get("kwargs", inputs)
            fields = instance.signature.input_fields
            kept = {name: value for name, value in given.items() if name in fields}
            self._under_way[call_id] = (self._names[id(instance)], instance.signature.output_fields, kept)

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """Note what came of a call: what was asked for, not how likely each token of it was."""
        if call_id not in self._under_way:
            return
        name, fields, inputs = self._under_way.pop(call_id)
        returned = None
        if isinstance(outputs, dspy.Prediction):
            returned = {field: value for field, value in outputs.items() if field in fields}
        said = json.dumps(plain(returned), ensure_ascii=False) if returned is not None else _fault(exception)
        self._steps.append(RecordedCall(name, inputs, returned, said))


def plain(value: Any) -> Any:
    """Write a value as JSON has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _fault(exception: BaseException | None) -> str:
    if isinstance(exception, AdapterParseError):
        return str(exception.lm_response)
    return f"{type(exception).__name__}: {exception}"
