"""Vanilla RAG reranked by StateRAG's cross-encoder: parts what the state adds from what reranking adds."""

from __future__ import annotations

from programs.methods.space import FULL, Filling, Whole, segmentation
from programs.methods.spec import MethodSpec
from programs.methods.vanilla_rerank.settings import VanillaRerankSettings

SPEC = MethodSpec(
    name="vanilla-rerank",
    label="Vanilla RAG, reranked",
    program="programs.methods.vanilla_rerank.program:VanillaRerank",
    settings=VanillaRerankSettings,
    space=(
        *segmentation(),
        Whole("vanilla_rerank.candidates", 10, 60, online=True),
        Filling("vanilla_rerank.k", 0.25, FULL, online=True),
    ),
    place=2,
    printed=1,
)
