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

Weight = Annotated[float, Field(ge=0, le=1_000_000)]
Coefficient = Annotated[float, Field(ge=-1_000_000, le=1_000_000)]
