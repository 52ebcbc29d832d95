"""StateRAG without MARS: one pass through graph and memory, with no state, no contract and no verdict."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant("staterag-without-mars", "StateRAG w/o MARS", "StateRAGWithoutMARS", place=12, removed="MARS")
