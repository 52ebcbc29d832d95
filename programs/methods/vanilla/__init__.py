"""Vanilla RAG: the segments most similar to the question."""

from __future__ import annotations

from programs.methods.space import FULL, Filling, segmentation
from programs.methods.spec import MethodSpec
from programs.methods.vanilla.settings import VanillaSettings

SPEC = MethodSpec(
    name="vanilla",
    label="Vanilla RAG",
    program="programs.methods.vanilla.program:Vanilla",
    settings=VanillaSettings,
    space=(*segmentation(), Filling("vanilla.k", 0.25, FULL, online=True)),
    place=1,
    printed=0,
)
