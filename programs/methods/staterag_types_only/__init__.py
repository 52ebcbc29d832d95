"""The contract's types alone: any role may write any field, and any value of the right type is committed."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-types-only",
    label="StateRAG, types only",
    program="programs.methods.staterag_types_only.program:StateRAGTypesOnly",
    place=16,
    base=staterag.SPEC.name,
    contract=("types",),
)
