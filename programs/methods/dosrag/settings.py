"""DOSRAG."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST_TOKENS
from programs.frozen import Frozen


class DosragSettings(Frozen):
    """DOSRAG."""

    budget: int | None = Field(
        None,
        ge=1,
        le=MOST_TOKENS,
        description="evidence tokens to fill, if that is less than the reader's budget; None fills it",
    )
