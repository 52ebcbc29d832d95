"""How much text fits a prompt of the auxiliary model."""

from __future__ import annotations

from programs.models.encoders.encoder import Encoder
from programs.models.runtime import Runtime

INSTRUCTION = 300
"""Tokens of a context that are left for the instruction, the labels and the chat template."""
ENCODER_TOKENS = 0.75
"""Encoder tokens that are counted on for one token of the model, since the two tokenizers differ."""


def room(runtime: Runtime, completion: int) -> int:
    """Give the encoder tokens that a prompt may hold beside its instruction and a completion."""
    context = runtime.auxiliary.engine.capabilities.context_length
    return max(1, int((context - completion - INSTRUCTION) * ENCODER_TOKENS))


def head(text: str, tokens: int, encoder: Encoder) -> str:
    """Cut a text after its first tokens."""
    spans = encoder.spans(text)
    return text if len(spans) <= tokens else text[: spans[tokens - 1][1]]
