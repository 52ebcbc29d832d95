"""Completions kept by content: what a model was once asked at temperature 0 is not asked again, in any process.

A search measures a method hundreds of times on the same questions, and most of its calls are the same ones; and a
search that was killed replays what was answered. A kept completion stands in the ledger with the tokens and the
seconds that it took when it was made, so neither RET nor latency tells a kept call from a new one.

A journal belongs to one run and gives each answer once; this is a cache, for development and never for a locked run.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from programs.content_key import content_bytes
from programs.models.cache.content_store import ContentStore
from programs.models.cache.journal import Made, RememberingEngine, again, timed
from programs.models.engines.engine import ChatRequest, Completion
from programs.models.runtime import Runtime


class Completions:
    """Answers as JSON in one SQLite file. Threads may share it, and other processes may have the file open."""

    def __init__(self, path: Path) -> None:
        self._store = ContentStore(path)
        self._guard = threading.Lock()
        self._asking: WeakValueDictionary[bytes, Any] = WeakValueDictionary()

    def resolve(self, kind: type[Made], key: bytes, ask: Callable[[], Made]) -> Made:
        """Give the answer of this name, kept or asked for. Of several threads that want it at once, one asks."""
        with self._guard:
            lock = self._asking.setdefault(key, threading.Lock())
        with lock:
            kept = self._store.get([key]).get(key)
            if kept is not None:
                return again(kind, json.loads(kept))
            made, entry = timed(ask)
            self._store.put({key: json.dumps(entry).encode()})
            return made

    def close(self) -> None:
        """Close the file."""
        self._store.close()


@dataclass(frozen=True)
class CachedEngine(RememberingEngine):
    """An engine that is asked only for what it was not asked before. A call above temperature 0 is always made."""

    completions: Completions

    def complete(self, request: ChatRequest) -> Completion:
        """Answer from what is kept, or ask."""
        return self.engine.complete(request) if request.temperature > 0 else super().complete(request)

    def close(self) -> None:
        """Close the file, and leave the engine open."""
        self.completions.close()

    def _made(self, kind: type[Made], call: tuple[str, ...], ask: Callable[[], Made]) -> Made:
        name, *asked = call
        return self.completions.resolve(kind, content_bytes(name, self.model, *asked), ask)


def kept(runtime: Runtime, path: Path) -> Runtime:
    """Have a runtime's completions kept in a file. Closing it closes the file; the engines stay the lender's."""
    completions = Completions(path)
    return runtime.behind(lambda engine: CachedEngine(engine, completions))
