"""How large a number of the settings may be: far above what is of use, and far below what breaks arithmetic."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

MOST_TOKENS = 10_000_000
"""More than any model reads."""
MOST = 10_000
"""Of things that are compared, kept or asked for at once."""
MOST_CANDIDATES = 1_000_000
"""Of things that are only counted up to."""
LARGEST_SEED = 2**32 - 1
"""What numpy takes."""

Tokens = Annotated[int, Field(ge=8, le=MOST_TOKENS)]
"""Of a piece of text: fewer would say nothing."""
CallTokens = Annotated[int, Field(ge=16, le=MOST_TOKENS)]
"""Of what a call reads or writes as a whole: fewer would not hold the least JSON."""
Budget = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
"""Of tokens that are filled as far as they go."""
Count = Annotated[int, Field(ge=1, le=MOST)]
Candidates = Annotated[int, Field(ge=1, le=MOST_CANDIDATES)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1_000_000)]
Coefficient = Annotated[float, Field(ge=-1_000_000, le=1_000_000)]
