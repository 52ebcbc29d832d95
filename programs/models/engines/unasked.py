"""A model that nobody asks: its name, its size and its room, for plans that are made before it can be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from programs.errors import ModelUnavailable
from programs.models.engines.engine import Capabilities, ChatMessage, ChatRequest, Completion, Likelihood


@dataclass(frozen=True)
class UnaskedEngine:
    """Counts tokens by a tokenizer that is at hand in place of the model's own, and completes nothing."""

    model: str
    parameters: int | None
    context: int
    count: Callable[[str], int]

    @property
    def capabilities(self) -> Capabilities:
        """Whatever a plan may need."""
        return Capabilities(True, True, self.context, token_logprobs=True)

    def complete(self, request: ChatRequest) -> Completion:
        """Refuse: nothing stands behind this."""
        raise ModelUnavailable(f"{self.model!r} was named for a plan alone and can't be asked")

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Refuse."""
        raise ModelUnavailable(f"{self.model!r} was named for a plan alone and can't be asked")

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count the texts of the messages, without the few tokens that a chat template adds."""
        return sum(self.count(message.content) for message in messages)

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""
