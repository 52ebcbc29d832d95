"""Indexes that a search's trials share: most trials change only how a collection is searched, not what is built of it.

An index is found again where the collection is the same and so are the settings that it may depend on. It costs each
trial what building it cost: the charges are taken off whoever happened to build it, and put on the trial's first query
of that collection, who would have built it in a run. So what a trial's queries select, answer and spend does not hang
on the trials before it, nor on which worker came first. Three counts are left to whoever builds: reads of memory,
unreadable completions, and those encoder tokens of a text of the index that a query encodes again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

from programs.content_key import content_key
from programs.elapsed import elapsed
from programs.methods.indexes import Codec, Indexes
from programs.models.ledger import Ledger, Phase, current_scope
from programs.selection.configured import ConfiguredMethod
from programs.workloads.query import Example

T = TypeVar("T")
CHARACTERS = 100_000_000
"""Source text whose indexes are held at once, those used last. An index takes about five bytes a character."""


@dataclass(frozen=True)
class Built:
    """An index, and what building it cost."""

    index: Any
    characters: int
    charges: Ledger
    seconds: float


class SharedIndexes:
    """The indexes of a search over some questions. `online` are the keys of settings that no index depends on."""

    def __init__(self, examples: Sequence[Example], online: Iterable[str] = ()) -> None:
        self._examples = examples
        self._online = tuple(online)
        self._collections = {example.query.collection.digest: example.query.collection for example in examples}
        self._held: LRUCache[str, Built] = LRUCache(CHARACTERS, getsizeof=lambda b: min(b.characters, CHARACTERS))
        self._building: WeakValueDictionary[str, Any] = WeakValueDictionary()
        self._guard = threading.Lock()

    def trial(self, configured: ConfiguredMethod) -> TrialIndexes:
        """Give the indexes to one trial, whose queries come in the order of the examples."""
        payers: dict[str, int] = {}
        for example in self._examples:
            payers.setdefault(example.query.collection.digest, example.query.position)
        return TrialIndexes(self, self._settings_key(configured), payers)

    def find(self, settings: str, collection: str, build: Callable[[], Any]) -> Built:
        """Give an index, built under these settings if it is not held. Of several who want it at once, one builds."""
        name = content_key(settings, collection)
        with self._guard:
            lock = self._building.setdefault(name, threading.Lock())
        with lock:
            with self._guard:
                held = self._held.get(name)
            if held is None:
                held = self._build(collection, build)
                with self._guard:
                    self._held[name] = held
            return held

    def _build(self, collection: str, build: Callable[[], Any]) -> Built:
        ledger = current_scope().ledger
        before, started = Mark.of(ledger), time.perf_counter()
        index = build()
        seconds = elapsed(started)
        characters = sum(len(source.text) for source in self._collections[collection].each())
        return Built(index, characters, before.taken_off(ledger), seconds)

    def _settings_key(self, configured: ConfiguredMethod) -> str:
        tree = configured.settings.model_dump(mode="json")
        for key in self._online:
            *branches, leaf = key.split(".")
            node = tree
            for branch in branches:
                node = node[branch]
            node.pop(leaf, None)
        return content_key(configured.name, repr(tree), configured.compiled.digest if configured.compiled else "")


class TrialIndexes(Indexes):
    """What a trial's programs take for their own indexes."""

    def __init__(self, shared: SharedIndexes, settings: str, payers: dict[str, int]) -> None:
        super().__init__()
        self._search = shared
        self._settings = settings
        self._payers = payers

    def get(self, collection: str, position: int, build: Callable[[], T], codec: Codec[T] | None = None) -> T:
        """Give a collection's index, at the cost of building it to the one query that pays for it."""
        started = time.perf_counter()
        found = self._search.find(self._settings, collection, build)
        spent = elapsed(started)
        ledger = current_scope().ledger
        pays = self._payers.get(collection) == position
        if pays:
            ledger.absorb(found.charges)
            own = {"query_id": ledger.query_id}
            ledger.calls[:] = [call.model_copy(update=own) for call in ledger.calls]
        ledger.replayed[Phase.INDEX] += (found.seconds if pays else 0.0) - spent
        index: T = found.index
        return index


class Mark(NamedTuple):
    """How far a ledger was."""

    calls: int
    encoder_tokens: int
    replayed: dict[Phase, float]
    spared: dict[Phase, float]

    @classmethod
    def of(cls, ledger: Ledger) -> Mark:
        """Note how far a ledger is."""
        return cls(len(ledger.calls), ledger.encoder_tokens, dict(ledger.replayed), dict(ledger.spared))

    def taken_off(self, ledger: Ledger) -> Ledger:
        """Take what was charged since off a ledger, and give it as one of its own."""
        off = Ledger(
            query_id=ledger.query_id,
            calls=ledger.calls[self.calls :],
            encoder_tokens=ledger.encoder_tokens - self.encoder_tokens,
            replayed={phase: ledger.replayed[phase] - self.replayed[phase] for phase in Phase},
            spared={phase: ledger.spared[phase] - self.spared[phase] for phase in Phase},
        )
        del ledger.calls[self.calls :]
        ledger.encoder_tokens = self.encoder_tokens
        ledger.replayed.update(self.replayed)
        ledger.spared.update(self.spared)
        return off
