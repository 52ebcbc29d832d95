"""A value that is checked once and then stays as it is."""

from __future__ import annotations

from functools import cached_property

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Closed, so that a mistyped key is an error, and frozen, so that a run can't drift; its numbers are numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,), allow_inf_nan=False)
