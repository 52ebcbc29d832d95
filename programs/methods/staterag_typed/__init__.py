"""StateRAG with global memory cleared at every query boundary: the typed side of the matched carrier control."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-typed",
    label="StateRAG, typed",
    program="programs.methods.staterag_typed.program:StateRAGTyped",
    place=14,
    base=staterag.SPEC.name,
    carrier="Typed, role-owned",
    contract=("types", "ownership", "validation"),
)
