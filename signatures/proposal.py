"""What every typed role output has in common: it is closed, frozen and strict."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
"""Text that says something: never empty, never so long that it could carry a document into another prompt."""


class Proposal(BaseModel):
    """A value that a role offers. An unknown key makes it malformed; nothing in it has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
