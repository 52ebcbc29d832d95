"""Self-RAG: prompted reflection in place of trained tokens."""

from __future__ import annotations

from programs.methods.selfrag.settings import SelfragSettings
from programs.methods.space import FULL, Filling, OneOf, Real, Whole, segmentation
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="selfrag",
    label="Self-RAG",
    program="programs.methods.selfrag.program:SelfRAG",
    settings=SelfragSettings,
    space=(
        *segmentation(),
        OneOf("selfrag.mode", ("adaptive", "always"), online=True),
        Real("selfrag.threshold", 0.0, 0.6, online=True),
        Whole("selfrag.passages", 5, 20, online=True),
        Filling("selfrag.keep", 0.25, FULL, online=True),
        Real("selfrag.relevance_weight", 0.0, 2.0, digits=1, online=True),
        Real("selfrag.support_weight", 0.0, 2.0, digits=1, online=True),
        Real("selfrag.utility_weight", 0.0, 2.0, digits=1, online=True),
    ),
    place=5,
    printed=3,
)
