"""StateRAG without MARS: one pass through graph and memory, with no state, no contract and no verdict."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-without-mars",
    label="StateRAG w/o MARS",
    program="programs.methods.staterag_without_mars.program:StateRAGWithoutMARS",
    place=12,
    base=staterag.SPEC.name,
    removed="MARS",
)
