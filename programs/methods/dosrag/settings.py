"""DOSRAG."""

from __future__ import annotations

from pydantic import Field

from programs.settings_group import SettingsGroup


class DosragSettings(SettingsGroup):
    """DOSRAG."""

    budget: int | None = Field(
        None, ge=1, description="evidence tokens to fill, if that is less than the reader's budget; None fills it"
    )
