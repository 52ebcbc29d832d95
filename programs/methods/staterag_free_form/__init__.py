"""StateRAG with one shared text in place of the typed state: the other side of the matched carrier control."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant("staterag-free-form", "StateRAG, free-form", "StateRAGFreeForm", place=15, carrier="Free-form shared")
