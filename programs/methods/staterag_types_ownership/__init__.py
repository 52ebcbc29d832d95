"""The contract without its validators: fields have types and owners, and any value of the right type is committed."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-types-ownership",
    label="StateRAG, types and ownership",
    program="programs.methods.staterag_types_ownership.program:StateRAGTypesOwnership",
    place=17,
    base=staterag.SPEC.name,
    contract=("types", "ownership"),
)
