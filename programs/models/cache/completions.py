"""Completions kept by content: what a model was once asked at temperature 0 is not asked again, in any process.

A search measures a method hundreds of times on the same questions, and most of its calls are the same ones; and a
search that was killed replays what was answered. A kept completion stands in the ledger with the tokens and the
seconds that it took when it was made, so neither RET nor latency tells a kept call from a new one.

A journal belongs to one run and gives each answer once; this is a cache, for development and never for a locked run.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from programs.content_key import content_bytes
from programs.models.cache.content_store import ContentStore
from programs.models.engines.engine import ChatRequest, Completion, Likelihood, WrappedEngine
from programs.models.runtime import Runtime

Made = TypeVar("Made", Completion, Likelihood)


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
                entry = json.loads(kept)
                return replace(kind(**entry["made"]), replayed=entry["seconds"])
            started = time.perf_counter()
            made = ask()
            entry = {"seconds": time.perf_counter() - started, "made": asdict(made)}
            self._store.put({key: json.dumps(entry).encode()})
            return made

    def close(self) -> None:
        """Close the file."""
        self._store.close()


@dataclass(frozen=True)
class CachedEngine(WrappedEngine):
    """An engine that is asked only for what it was not asked before. A call above temperature 0 is always made."""

    completions: Completions

    def complete(self, request: ChatRequest) -> Completion:
        """Answer from what is kept, or ask."""
        if request.temperature > 0:
            return self.engine.complete(request)
        asked = json.dumps(asdict(request), sort_keys=True)
        key = content_bytes("complete", self.model, asked)
        return self.completions.resolve(Completion, key, lambda: self.engine.complete(request))

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Answer from what is kept, or ask."""
        key = content_bytes("likelihood", self.model, context, continuation)
        return self.completions.resolve(Likelihood, key, lambda: self.engine.likelihood(context, continuation))

    def close(self) -> None:
        """Close the file, and leave the engine open."""
        self.completions.close()


def kept(runtime: Runtime, path: Path) -> Runtime:
    """Have a runtime's completions kept in a file. Closing it closes the file; the engines stay the lender's."""
    completions = Completions(path)
    return runtime.behind(lambda engine: CachedEngine(engine, completions))
