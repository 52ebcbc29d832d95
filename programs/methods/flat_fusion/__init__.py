"""StateRAG's ranking without StateRAG: parts what plan, graph and verdict add from what the ranking adds."""

from __future__ import annotations

from programs.methods.flat_fusion.settings import FlatFusionSettings
from programs.methods.space import FULL, Filling, OneOf, segmentation
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="flat-fusion",
    label="Flat fusion",
    program="programs.methods.flat_fusion.program:FlatFusion",
    settings=FlatFusionSettings,
    space=(
        *segmentation(),
        OneOf("flat_fusion.pool", (20, 40, 60, 80), online=True),
        Filling("flat_fusion.records", 0.25, FULL, online=True),
    ),
    place=10,
    printed=9,
)
