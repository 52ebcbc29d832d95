"""What an engine must offer to serve a language model here. `tests/conformance` holds every engine to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from metrics.record import MOST

SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Put U+FFFD for each half of a character, as JSON can hold and no file or socket takes."""
    return SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do, known before the first call so that a need it can't meet is said at start."""

    schema: bool
    """Keeps a completion to a JSON schema."""
    prompt_logprobs: bool
    """Gives log-probabilities of prompt tokens, which the likelihood scorer needs."""
    context_length: int
    control_tokens: tuple[str, ...] = ()
    """Texts that its tokenizer takes for tokens of their own, where it can tell; what they look like in general is
    known without it (`plain_text`)."""
    token_logprobs: bool = False
    """Says how likely each generated token was, and what else was likely in its place, for a request that asks."""


@dataclass(frozen=True)
class ChatMessage:
    """One turn. What is to be read as text in it has been broken up where it looks like a control token."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One call. Temperature is 0 everywhere unless an optimiser asks otherwise."""

    messages: tuple[ChatMessage, ...]
    max_tokens: int
    temperature: float = 0.0
    schema: dict[str, Any] | None = field(default=None, hash=False)
    alternatives: int = 0
    """How many likely tokens to be told of at each place of the completion. Only where the engine can."""


@dataclass(frozen=True)
class GeneratedToken:
    """A token of a completion, and the likeliest ones at its place, itself usually among them.

    They are what the model alone would say: a schema may allow none but the one that was generated.
    """

    text: str
    logprob: float
    alternatives: tuple[GeneratedToken, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", well_formed(self.text))


@dataclass(frozen=True)
class Completion:
    """What came back, with the engine's own token counts. Its text can be encoded, whoever made it and whenever."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: Literal["stop", "length"]
    transport_retries: int = 0
    replayed: float = 0.0
    """Seconds that the call took when it was made, where a journal answered instead."""
    tokens: tuple[GeneratedToken, ...] = ()
    """The tokens of the text one by one, where the request asked for alternatives and the engine has them."""

    def __post_init__(self) -> None:
        _check_counts(self.prompt_tokens, self.completion_tokens)
        object.__setattr__(self, "text", well_formed(self.text))


@dataclass(frozen=True)
class Likelihood:
    """The mean log-probability of a continuation after a context, and the tokens that it took to find out."""

    mean_logprob: float
    prompt_tokens: int
    completion_tokens: int = 0
    transport_retries: int = 0
    replayed: float = 0.0

    def __post_init__(self) -> None:
        _check_counts(self.prompt_tokens, self.completion_tokens)


def _check_counts(*counts: int) -> None:
    """Refuse what no model can have counted, before it is in a record that nobody could add up."""
    if not all(0 <= count <= MOST for count in counts):
        raise ValueError("a model's own count of tokens is below 0, or beyond all bounds")


class Engine(Protocol):
    """An engine with one model loaded."""

    @property
    def model(self) -> str:
        """The model's name, as ledgers and manifests write it."""

    @property
    def parameters(self) -> int | None:
        """The model's parameter count, for RET with true ratios; None where nobody said."""

    @property
    def capabilities(self) -> Capabilities:
        """What this engine can do with this model."""

    def complete(self, request: ChatRequest) -> Completion:
        """Run one chat completion. Raises `ContextOverflow` or `TransportFault`, and nothing else on purpose."""

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Score a continuation. Only where `capabilities.prompt_logprobs`."""

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count a chat prompt with the model's own tokenizer and chat template."""

    def close(self) -> None:
        """Give back memory, sockets and threads."""


@dataclass(frozen=True)
class WrappedEngine:
    """What an engine that stands before another one passes on. The other is lent: closing this leaves it open."""

    engine: Engine

    @property
    def model(self) -> str:
        """The engine's model."""
        return self.engine.model

    @property
    def parameters(self) -> int | None:
        """Its size."""
        return self.engine.parameters

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do."""
        return self.engine.capabilities

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count with the engine's tokenizer."""
        return self.engine.count_tokens(messages)

    def close(self) -> None:
        """Leave the engine open."""
