"""A journal of completions, so that a run that was killed in the middle of a query does not pay for its calls again.

It is not a cache: an entry belongs to one query that has no record yet, is used once, and stands in the ledger with
the tokens and the seconds that the call took when it was made.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Container
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from programs.atomic import LineFile, replacing, writing
from programs.content_key import content_key
from programs.elapsed import elapsed
from programs.models.engines.engine import ChatRequest, Completion, GeneratedToken, Likelihood, WrappedEngine
from programs.models.ledger import current_scope

Made = TypeVar("Made", Completion, Likelihood)


def timed(ask: Callable[[], Made]) -> tuple[Made, dict[str, Any]]:
    """Make a call, and give it also as it is kept: what came back, and the seconds that it took."""
    started = time.perf_counter()
    made = ask()
    return made, {"seconds": elapsed(started), "made": asdict(made)}


def again(kind: type[Made], entry: dict[str, Any]) -> Made:
    """Give a kept call as if it had just been made. One that was kept before tokens were has none."""
    made = dict(entry["made"])
    if "tokens" in made:
        made["tokens"] = tuple(map(_token, made["tokens"]))
    return replace(kind(**made), replayed=entry["seconds"])


def described(request: ChatRequest) -> str:
    """Write a request as calls are named by. One that asks for no alternatives has the name that it always had."""
    asked = asdict(request)
    if not request.alternatives:
        del asked["alternatives"]
    return json.dumps(asked, sort_keys=True)


class Journal:
    """The calls of one method in one run, in a file of JSON lines."""

    def __init__(self, path: Path, done: Container[str]) -> None:
        """Take up the calls of queries that are not `done`. A line that a kill cut in half is left out."""
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._entries: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
        self._lock = threading.Lock()
        kept = [line for line in _lines(path) if line["query_id"] not in done]
        for entry in kept:
            self._entries[entry["key"]].append(entry)
        with replacing(path) as file:
            file.write(b"".join(map(_line, kept)))
        self._file = LineFile(path)

    def take(self, key: str) -> dict[str, Any] | None:
        """Give what the next call of this name brought, once."""
        with self._lock:
            waiting = self._entries.get(key)
            return waiting.popleft() if waiting else None

    def add(self, key: str, query_id: str, entry: dict[str, Any]) -> None:
        """Write a call down."""
        with self._lock:
            self._file.add(_line({"key": key, "query_id": query_id} | entry))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class RememberingEngine(WrappedEngine):
    """An engine that looks up what it was asked, by the parts of the call, before it asks."""

    def complete(self, request: ChatRequest) -> Completion:
        """Answer from what is kept, or ask."""
        return self._made(Completion, ("complete", described(request)), lambda: self.engine.complete(request))

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Answer from what is kept, or ask."""
        call = ("likelihood", context, continuation)
        return self._made(Likelihood, call, lambda: self.engine.likelihood(context, continuation))

    def _made(self, kind: type[Made], call: tuple[str, ...], ask: Callable[[], Made]) -> Made:
        raise NotImplementedError


@dataclass(frozen=True)
class JournaledEngine(RememberingEngine):
    """An engine whose calls are written down, and made only if they are not there yet."""

    journal: Journal

    def _made(self, kind: type[Made], call: tuple[str, ...], ask: Callable[[], Made]) -> Made:
        query_id = current_scope().ledger.query_id
        key = content_key(query_id, self.model, *call)
        entry = self.journal.take(key)
        if entry is not None:
            return again(kind, entry)
        made, entry = timed(ask)
        self.journal.add(key, query_id, entry)
        return made


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _token(kept: dict[str, Any]) -> GeneratedToken:
    return GeneratedToken(kept["text"], kept["logprob"], tuple(map(_token, kept["alternatives"])))


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entries.append(json.loads(line))
        except ValueError:
            break
    return entries
