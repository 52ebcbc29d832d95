"""StateRAG under the memory setting of the carrier control; every other carrier differs from this one by a part."""

from __future__ import annotations

from programs.memory.memory import MemoryPool
from programs.memory.pool import Pool
from programs.methods.staterag.program import StateRAG


class StateRAGTyped(StateRAG):
    """Queries share no memory, so that only the carrier can make a difference. Within a query SMP is as ever."""

    name = "staterag-typed"

    def _pool(self) -> MemoryPool:
        cleared = self.settings.memory.model_copy(update={"keep_global": False})
        return Pool(self.workload, self.memory_file, cleared)
