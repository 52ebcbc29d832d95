"""A branch of the settings tree."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SettingsGroup(BaseModel):
    """Closed, so that a mistyped key is an error, and frozen, so that a run can't drift."""

    model_config = ConfigDict(extra="forbid", frozen=True)
