"""StateRAG without SMP: no store of any scope, so U is empty and no role reads or leaves anything."""

from __future__ import annotations

from programs.memory.absent import NoPool
from programs.memory.memory import MemoryPool
from programs.methods.staterag.program import StateRAG


class StateRAGWithoutSMP(StateRAG):
    """Queries know nothing of each other, nor does a cycle of what the one before it left but by the state."""

    name = "staterag-without-smp"

    def _pool(self) -> MemoryPool:
        return NoPool()
