"""Vanilla RAG, reranked."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import MOST
from programs.frozen import Frozen


class VanillaRerankSettings(Frozen):
    """The control: the nearest segments reranked by StateRAG's cross-encoder."""

    candidates: int = Field(10, ge=1, le=MOST, description="segments reranked")
    k: int = Field(5, ge=1, le=MOST, description="segments handed to the reader")
