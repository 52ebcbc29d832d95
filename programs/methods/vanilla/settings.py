"""Vanilla RAG."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST
from programs.frozen import Frozen


class VanillaSettings(Frozen):
    """Vanilla RAG."""

    k: int = Field(5, ge=1, le=MOST, description="segments handed to the reader")
