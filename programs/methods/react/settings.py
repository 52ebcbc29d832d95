"""ReAct."""

from __future__ import annotations

from pydantic import Field

from programs.frozen import Frozen


class ReactSettings(Frozen):
    """ReAct. Steps and sentences are the published ones; a published search opened one page."""

    steps: int = Field(7, ge=1, description="thought-action-observation steps at most")
    hits: int = Field(3, ge=1, description="segments that a search finds")
    sentences: int = Field(5, ge=1, description="sentences that a search shows of each segment; a lookup shows others")
    step_tokens: int = Field(160, ge=32, description="tokens that a thought and its action may have, as JSON")
    trajectory_tokens: int = Field(
        2400, ge=64, description="encoder tokens of the trajectory that a step sees: whole steps, the latest"
    )
