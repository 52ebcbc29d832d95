"""The abstraction generator F_a: what a Relation or Topic node says of its children.

A model is asked for groups of two or more only, sees the opening of each child, and is asked once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import dspy
from dspy.utils.exceptions import AdapterParseError

from programs.content_key import content_key
from programs.models.encoders.encoder import Encoder
from programs.models.language_model import LanguageModel
from programs.models.plain_text import numbered_items
from programs.state import NodeType
from signatures.abstraction import DescribeGroup

CHARACTERS_A_TOKEN = 6
"""More than a token of running text has, so that one guess nearly always holds an opening's tokens."""
OPENINGS = 4096
"""Openings that are remembered: a child has up to two parents, and a key and a prompt are made of the same ones."""


class NoAbstraction(Exception):
    """The model returned nothing that can stand for the group."""


class Abstractor(Protocol):
    """Gives the text of a group of two or more children."""

    def describe(self, node_type: NodeType, children: Sequence[str]) -> str:
        """Say what the children have in common. Raises `NoAbstraction` where the completion can't be used."""

    def key(self, node_type: NodeType, children: Sequence[str]) -> str | None:
        """Name the call by content, so that memory can replace it; None where there is no call to replace."""


@dataclass(frozen=True)
class Reuse:
    """Where abstractions are looked up and kept by content key."""

    recall: Callable[[str], str | None]
    remember: Callable[[str, str, tuple[str, ...]], None]
    """Takes the key, the text, and the evidence ids that the text stands on."""


class LeadAbstractor:
    """Joins the openings of the children and asks nobody."""

    def __init__(self, encoder: Encoder, child_tokens: int) -> None:
        self._encoder = encoder
        self._child_tokens = child_tokens
        self._opening = lru_cache(OPENINGS)(self._cut)

    def describe(self, node_type: NodeType, children: Sequence[str]) -> str:
        """Give the openings, one a line."""
        return "\n".join(self.openings(children))

    def key(self, node_type: NodeType, children: Sequence[str]) -> None:
        """Give no key: joining costs less than a look-up."""

    def openings(self, children: Sequence[str]) -> list[str]:
        """Cut each child after its first tokens."""
        return [self._opening(child) for child in children]

    def _cut(self, text: str) -> str:
        # Only as much of the text is tokenised as is needed: this is on the path of every query.
        length = CHARACTERS_A_TOKEN * self._child_tokens
        while True:
            spans = self._encoder.spans(text[:length])
            if len(spans) > self._child_tokens:
                return text[: spans[self._child_tokens - 1][1]]
            if length >= len(text):
                return text
            length *= 2


class ModelAbstractor(dspy.Module):  # type: ignore[misc]
    """F_a as a module, so that an optimiser can rewrite its instruction."""

    def __init__(self) -> None:
        super().__init__()
        self.describe_group = dspy.Predict(DescribeGroup)

    def forward(
        self, node_type: NodeType, children: Sequence[str], lm: LanguageModel, max_tokens: int
    ) -> dspy.Prediction:
        """Ask once."""
        return self.describe_group(
            node_type=node_type.value, children=rendered(children), lm=lm, config={"max_tokens": max_tokens}
        )

    @property
    def prompt(self) -> str:
        """All that shapes the prompt beside its inputs: instruction, field descriptions, demonstrations."""
        state = self.describe_group.dump_state()
        return json.dumps([state["signature"], state["demos"]], sort_keys=True, ensure_ascii=False, default=str)

    def bind(self, lm: LanguageModel, lead: LeadAbstractor, max_tokens: int) -> BoundAbstractor:
        """Make an `Abstractor` of this module and a model."""
        return BoundAbstractor(self, lm, lead, max_tokens)


@dataclass(frozen=True)
class BoundAbstractor:
    """A `ModelAbstractor` with the model that it asks."""

    module: ModelAbstractor
    lm: LanguageModel
    lead: LeadAbstractor
    max_tokens: int

    def describe(self, node_type: NodeType, children: Sequence[str]) -> str:
        """Ask the model about the openings of the children."""
        try:
            prediction: Any = self.module(node_type, self.lead.openings(children), self.lm, self.max_tokens)
        except AdapterParseError as error:
            raise NoAbstraction(f"{node_type}: the completion could not be read") from error
        text = prediction.abstraction
        if not isinstance(text, str) or not text.strip():
            raise NoAbstraction(f"{node_type}: the completion was empty")
        return text.strip()

    def key(self, node_type: NodeType, children: Sequence[str]) -> str:
        """Name the call; the token limit is part of it, since it cuts the text."""
        prompt = f"{self.module.prompt}\n{self.max_tokens}"
        return abstraction_key(node_type, self.lead.openings(children), self.lm.model, prompt)


def abstraction_key(node_type: NodeType, children: Sequence[str], model: str, prompt: str) -> str:
    """Name an abstraction by everything that it depends on."""
    return content_key(node_type.value, model, prompt, *children)


def rendered(children: Sequence[str]) -> str:
    """Number the children, as the paper's template lists them."""
    return numbered_items(children)
