"""StateRAG with global memory cleared at every query boundary: the typed side of the matched carrier control."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant(
    "staterag-typed",
    "StateRAG, typed",
    "StateRAGTyped",
    place=14,
    carrier="Typed, role-owned",
    contract=("types", "ownership", "validation"),
)
