"""DOSRAG: the most similar segments that fill the budget, read in the order of the document."""

from __future__ import annotations

from programs.methods.dosrag.settings import DosragSettings
from programs.methods.space import OneOf, segmentation
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="dosrag",
    label="DOSRAG",
    program="programs.methods.dosrag.program:DOSRAG",
    settings=DosragSettings,
    space=(*segmentation(), OneOf("dosrag.budget", (None, 512, 1024, 1536), online=True)),
    place=3,
    printed=5,
)
