"""Self-RAG."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from programs.bounds import MOST, MOST_TOKENS
from programs.frozen import Frozen


class SelfragSettings(Frozen):
    """Self-RAG, prompted. Threshold, passages and weights are the published ones for short answers."""

    mode: Literal["adaptive", "always"] = Field("adaptive", description="ask whether to retrieve, or always retrieve")
    threshold: float = Field(0.2, ge=0, le=1, description="retrieve where the probability of 'yes' is above this")
    passages: int = Field(10, ge=1, le=MOST, description="nearest segments that are reflected on, a call each")
    keep: int = Field(5, ge=1, le=MOST, description="segments handed over, best score first")
    unretrieved: int = Field(
        1,
        ge=0,
        le=MOST,
        description="nearest segments handed over unread where retrieval is declined; 0 leaves no evidence",
    )
    relevance_weight: float = Field(1.0, ge=0, le=1_000_000, description="weight of P(relevant)")
    support_weight: float = Field(
        1.0, ge=0, le=1_000_000, description="weight of P(fully supported) + P(partially supported) / 2"
    )
    utility_weight: float = Field(0.5, ge=0, le=1_000_000, description="weight of the expected utility, from -1 to 1")
    decision_tokens: int = Field(
        32, ge=8, le=MOST_TOKENS, description="tokens that the retrieval decision may have, as JSON"
    )
    reflection_tokens: int = Field(
        160, ge=32, le=MOST_TOKENS, description="tokens that a draft and its labels may have, as JSON"
    )
    passage_tokens: int = Field(
        384, ge=8, le=MOST_TOKENS, description="encoder tokens of a segment that the model is shown"
    )
