"""Vanilla RAG and its control."""

from __future__ import annotations

from pydantic import Field

from programs.section import Section


class VanillaSettings(Section):
    """Vanilla RAG."""

    k: int = Field(5, ge=1, description="regions handed to the reader")


class VanillaRerankSettings(Section):
    """The control: the nearest regions reranked by StateRAG's cross-encoder."""

    candidates: int = Field(10, ge=1, description="regions reranked")
    k: int = Field(5, ge=1, description="regions handed to the reader")
