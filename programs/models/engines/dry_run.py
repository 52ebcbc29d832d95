"""An engine that asks nobody: it counts what a prompt would cost and says something of the right shape.

A run rehearsed twice, once with the mildest answers and once with the costliest, bounds what the real one will spend.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from metrics.record import Role
from programs.models.engines.engine import ChatMessage, ChatRequest, Completion, Likelihood, WrappedEngine
from programs.models.engines.wire import check_room
from programs.models.ledger import current_scope

FILLER = "what a model would say here"
CHARACTERS_PER_TOKEN = 4
SHOWN = re.compile(r"^\[(\d+)\]", re.MULTILINE)
MOST_SELECTED = 5


@dataclass(frozen=True)
class DryRunEngine(WrappedEngine):
    """Stands in for an engine, whose tokenizer it uses. `costliest` takes the last of each choice (FAIL, not PASS), and
    counts every completion at its limit.
    """

    costliest: bool

    def complete(self, request: ChatRequest) -> Completion:
        """Count the prompt, and answer from the schema."""
        prompt_tokens = self.engine.count_tokens(request.messages)
        check_room(prompt_tokens, request.max_tokens, self.capabilities.context_length)
        if request.schema is None:
            text = rehearsed_words(request, current_scope().role, self.costliest)
        else:
            text = rehearsed(request, request.schema, self.costliest)
        likely = math.ceil(len(text) / CHARACTERS_PER_TOKEN)
        tokens = request.max_tokens if self.costliest else min(likely, request.max_tokens)
        return Completion(text, prompt_tokens, tokens, "stop")

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Count the prompt."""
        return Likelihood(-1.0, self.engine.count_tokens((ChatMessage("user", context + continuation),)))


def rehearsed(request: ChatRequest, schema: dict[str, Any], costliest: bool) -> str:
    """Say something that a request's schema allows, about the numbered items that its prompt shows."""
    shown = [int(number) for number in SHOWN.findall(request.messages[-1].content)]
    return json.dumps(SampleValue(schema, shown, costliest).of(schema))


def rehearsed_words(request: ChatRequest, role: str, costliest: bool) -> str:
    """Say something in words: of a role that answers in them, what its tools must find there."""
    shown = SHOWN.findall(request.messages[-1].content)
    told = {
        Role.NAVIGATOR: " ".join(f"[{number}] 0.5" for number in shown),
        Role.RETRIEVER: " ".join(f"[{number}]" for number in shown[:MOST_SELECTED]),
        Role.VERIFIER: "FAIL" if costliest else "PASS",
    }
    return " ".join([FILLER, *(words for asked, words in told.items() if asked == role)])


class SampleValue:
    """A value that a JSON schema allows. Where numbered items were shown, lists of numbers name them."""

    def __init__(self, root: dict[str, Any], shown: list[int], costliest: bool) -> None:
        self._root = root
        self._shown = shown
        self._costliest = costliest

    def of(self, schema: dict[str, Any]) -> Any:
        """Give a value of a schema."""
        if "$ref" in schema:
            return self.of(self._root["$defs"][schema["$ref"].rsplit("/", 1)[-1]])
        if "enum" in schema:
            return schema["enum"][-1 if self._costliest else 0]
        if "const" in schema:
            return schema["const"]
        for choices in ("anyOf", "oneOf", "allOf"):
            if choices in schema:
                return self.of(schema[choices][0])
        kind = schema.get("type")
        if kind == "object":
            parts = schema.get("properties", {})
            return {name: self.of(parts[name]) for name in schema.get("required", parts)}
        if kind == "array":
            return self._items(schema)
        plain: dict[Any, Any] = {"integer": 1, "number": 0.5, "boolean": self._costliest, "null": None}
        if kind in plain:
            return max(plain[kind], schema.get("minimum", 0)) if kind in ("integer", "number") else plain[kind]
        return FILLER[: schema.get("maxLength", len(FILLER))]

    def _items(self, schema: dict[str, Any]) -> list[Any]:
        item = schema.get("items", {})
        item = self._root["$defs"][item["$ref"].rsplit("/", 1)[-1]] if "$ref" in item else item
        limit = schema.get("maxItems", math.inf)
        numbers = [name for name, part in item.get("properties", {}).items() if part.get("type") == "integer"]
        if self._shown and numbers:
            listed = [{**self.of(item), numbers[0]: number} for number in self._shown]
            return listed[: int(min(limit, len(listed)))]
        if self._shown and item.get("type") == "integer":
            return self._shown[: int(min(limit, MOST_SELECTED))]
        count = schema.get("minItems", 1)
        if self._costliest:
            count = int(min(limit, MOST_SELECTED))
        prefix = schema.get("prefixItems")
        if prefix:
            return [self.of(part) for part in prefix]
        return [self._nth(item, number) for number in range(max(count, 1))]

    def _nth(self, item: dict[str, Any], number: int) -> Any:
        """Keep texts of one list apart, since a list may have to be of different ones."""
        value = self.of(item)
        return f"{value} {number + 1}" if isinstance(value, str) and "enum" not in item else value
