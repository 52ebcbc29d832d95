"""The adapter: the paper's templates with little added, schema-constrained, one attempt.

DSPy's own adapters add field lists, a structure template and a reminder to each call, and some of them call again
when a completion does not parse. Here the instruction is the system message, the labelled inputs and the output form
are the user message, and a completion that does not parse is an `AdapterParseError`: the role turns it into a
rejection.

A value is put under its label so that no line of it reads as a label, or as the output form, of the same prompt.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, ValidationError

from programs.models.plain_text import Lookalikes, line_lookalikes

Messages = list[dict[str, Any]]
OUTPUT_JSON = "Output JSON with"


class TemplateAdapter(dspy.Adapter):  # type: ignore[misc]
    """Renders a signature whose single output is text or one pydantic model."""

    def __init__(self, constrained: bool = True) -> None:
        """Have the engine hold completions to a model's schema, or only describe it; parsing is strict either way."""
        super().__init__()
        self.constrained = constrained

    def _call_preprocess(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, inputs: dict[str, Any]) -> Any:
        model = output_model(signature)
        if model is not None and self.constrained and "response_format" in lm.supported_params:
            lm_kwargs["response_format"] = response_format(model)
        return signature

    def format(self, signature: Any, demos: list[dict[str, Any]], inputs: dict[str, Any]) -> Messages:
        """Render the instruction, then demonstrations as turns, then the inputs."""
        messages: Messages = [{"role": "system", "content": signature.instructions}]
        for demo in demos:
            messages.append({"role": "user", "content": self._user(signature, demo)})
            messages.append({"role": "assistant", "content": self._assistant(signature, demo)})
        messages.append({"role": "user", "content": self._user(signature, inputs)})
        return messages

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Read the one output, strictly: JSON of the model's schema, or the text as it is."""
        name = output_name(signature)
        model = output_model(signature)
        if model is None:
            return {name: completion.strip()}
        try:
            return {name: model.model_validate_json(completion)}
        except ValidationError as error:
            raise AdapterParseError(
                adapter_name="TemplateAdapter",
                signature=signature,
                lm_response=completion,
                message=str(error),
            ) from error

    def _user(self, signature: Any, values: dict[str, Any]) -> str:
        structure = structure_of(signature)
        blocks = [
            f"{label_of(field)}:\n{structure.break_up(str(values[name]))}"
            for name, field in signature.input_fields.items()
            if values.get(name) is not None
        ]
        return "\n\n".join([*blocks, output_form(signature)])

    def _assistant(self, signature: Any, demo: dict[str, Any]) -> str:
        value = demo.get(output_name(signature), "")
        if isinstance(value, BaseModel):
            return value.model_dump_json()
        if isinstance(value, str):
            return structure_of(signature).break_up(value)
        return json.dumps(value, ensure_ascii=False)


def label_of(field: Any) -> str:
    """Give the words that a field's value stands under."""
    return str(field.json_schema_extra["desc"])


def structure_of(signature: Any) -> Lookalikes:
    """Know the lines of a text that would read as a label or as the output form of this signature's prompts."""
    labels = [label_of(field) for field in signature.input_fields.values()]
    if output_model(signature) is None:
        return line_lookalikes(*labels, label_of(signature.output_fields[output_name(signature)]))
    return line_lookalikes(*labels, "Output", openings=(OUTPUT_JSON,))


def output_name(signature: Any) -> str:
    """Name the signature's one output."""
    (name,) = signature.output_fields
    return str(name)


def output_model(signature: Any) -> type[BaseModel] | None:
    """Give the output's pydantic type; None where the output is plain text."""
    annotation = signature.output_fields[output_name(signature)].annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def output_form(signature: Any) -> str:
    """Say what to return: the JSON keys and their meaning, or the label that the answer follows."""
    model = output_model(signature)
    if model is None:
        return f"{label_of(signature.output_fields[output_name(signature)])}:"
    return f"{OUTPUT_JSON} {key_list(model)}."


@lru_cache
def key_list(model: type[BaseModel]) -> str:
    """List a model's keys in words. Small models copy a filled-in sketch of the JSON as if it were the answer."""
    return " and ".join(f'"{name}" ({field.description})' for name, field in model.model_fields.items())


@lru_cache
def response_format(model: type[BaseModel]) -> dict[str, Any]:
    """Ask for completions of this model's schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": model.__name__, "schema": model.model_json_schema(), "strict": True},
    }
