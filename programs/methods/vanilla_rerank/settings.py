"""Vanilla RAG, reranked."""

from __future__ import annotations

from pydantic import Field

from programs.bounds import Count
from programs.frozen import Frozen


class VanillaRerankSettings(Frozen):
    """The control: the nearest segments reranked by StateRAG's cross-encoder."""

    candidates: Count = Field(10, description="segments reranked")
    k: Count = Field(5, description="segments handed to the reader")
