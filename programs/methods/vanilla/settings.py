"""Vanilla RAG."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import Count
from programs.frozen import Frozen


class VanillaSettings(Frozen):
    """Vanilla RAG."""

    k: Count = Field(5, description="segments handed to the reader")
