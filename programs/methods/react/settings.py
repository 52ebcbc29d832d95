"""ReAct."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST_TOKENS, Count
from programs.frozen import Frozen


class ReactSettings(Frozen):
    """ReAct. Steps are the published ones. A published search opened one page and showed five sentences of it; here it
    finds several segments, which are shorter than a page, and shows as little of each.
    """

    steps: int = Field(7, ge=1, le=1000, description="thought-action-observation steps at most")
    hits: Count = Field(5, description="segments that a search finds")
    sentences: Count = Field(2, description="sentences that a search shows of each segment; a lookup shows others")
    step_tokens: int = Field(
        160, ge=32, le=MOST_TOKENS, description="tokens that a thought and its action may have, as JSON"
    )
    trajectory_tokens: int = Field(
        2000,
        ge=64,
        le=MOST_TOKENS,
        description="encoder tokens of the trajectory that a step sees: whole steps, the latest",
    )
