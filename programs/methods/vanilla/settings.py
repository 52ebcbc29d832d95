"""Vanilla RAG."""

from __future__ import annotations

from pydantic import Field

from programs.settings_group import SettingsGroup


class VanillaSettings(SettingsGroup):
    """Vanilla RAG."""

    k: int = Field(5, ge=1, description="segments handed to the reader")
