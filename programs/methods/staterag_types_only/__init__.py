"""The contract's types alone: any role may write any field, and any value of the right type is committed."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant("staterag-types-only", "StateRAG, types only", "StateRAGTypesOnly", place=16, contract=("types",))
