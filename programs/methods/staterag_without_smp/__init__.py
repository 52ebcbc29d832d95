"""StateRAG without SMP: the same graph and the same roles, with nothing to remember."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant("staterag-without-smp", "StateRAG w/o SMP", "StateRAGWithoutSMP", place=13, removed="SMP")
