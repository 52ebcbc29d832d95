"""ReAct: search, lookup and finish, a thought before each."""

from __future__ import annotations

from programs.methods.react.settings import ReactSettings
from programs.methods.space import Whole, segmentation
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="react",
    label="ReAct",
    program="programs.methods.react.program:ReAct",
    settings=ReactSettings,
    space=(
        *segmentation(),
        Whole("react.steps", 3, 9, online=True),
        Whole("react.hits", 1, 9, online=True),
        Whole("react.sentences", 1, 6, online=True),
    ),
    place=4,
    printed=2,
)
