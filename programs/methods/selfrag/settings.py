"""Self-RAG."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from programs.bounds import MOST, MOST_TOKENS, Count, Share, Tokens, Weight
from programs.frozen import Frozen


class SelfragSettings(Frozen):
    """Self-RAG, prompted. Threshold, passages and weights are the published ones for short answers."""

    mode: Literal["adaptive", "always"] = Field("adaptive", description="ask whether to retrieve, or always retrieve")
    threshold: Share = Field(0.2, description="retrieve where the probability of 'yes' is above this")
    passages: Count = Field(10, description="nearest segments that are reflected on, a call each")
    keep: Count = Field(5, description="segments handed over, best score first")
    unretrieved: int = Field(
        1,
        ge=0,
        le=MOST,
        description="nearest segments handed over unread where retrieval is declined; 0 leaves no evidence",
    )
    relevance_weight: Weight = Field(1.0, description="weight of P(relevant)")
    support_weight: Weight = Field(1.0, description="weight of P(fully supported) + P(partially supported) / 2")
    utility_weight: Weight = Field(0.5, description="weight of the expected utility, from -1 to 1")
    decision_tokens: Tokens = Field(32, description="tokens that the retrieval decision may have, as JSON")
    reflection_tokens: int = Field(
        160, ge=32, le=MOST_TOKENS, description="tokens that a draft and its labels may have, as JSON"
    )
    passage_tokens: Tokens = Field(384, description="encoder tokens of a segment that the model is shown")
