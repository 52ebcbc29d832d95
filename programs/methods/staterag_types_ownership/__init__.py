"""The contract without its validators: fields have types and owners, and any value of the right type is committed."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant(
    "staterag-types-ownership",
    "StateRAG, types and ownership",
    "StateRAGTypesOwnership",
    place=17,
    contract=("types", "ownership"),
)
