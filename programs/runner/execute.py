"""Runs the queries of a manifest, in order or several at once, and writes a record for each as it is done.

Where memory passes between queries they run one after another. Where it does not, `workers` of them run at once
and give the same records: the first query of a shared collection runs before the others, because it builds, and pays
for, what they share.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass

from metrics.record import QueryRecord
from programs.errors import StateRAGError
from programs.methods.method import Method
from programs.runner.folder import OpenRun
from programs.workloads.query import Query

ENGINE_FAULTS = ("LMTransportError", "RequestRefused")
"""Errors of the engine and not of the query. Several in a row mean that there is no use in going on."""

Listener = Callable[[str, int, int, QueryRecord | None], None]
"""Told of each record: the method, how many queries are done of how many that were to do, and the record."""


class EngineGone(StateRAGError):
    """Several queries in a row found no usable model. What was done is kept."""


@dataclass(frozen=True)
class Execution:
    """How a run's queries are executed."""

    folder: OpenRun
    workers: int = 1
    stop_after: int = 5
    listener: Listener = lambda method, done, total, record: None

    def run(self, method: Method, queries: Sequence[Query], done: frozenset[int]) -> None:
        """Run the queries whose positions are not among those `done`, which `take_up` gave."""
        method.resume(done)
        todo = [query for query in queries if query.position not in done]
        self.listener(method.name, 0, len(todo), None)
        workers = 1 if method.ordered else self.workers
        in_a_row = 0
        records = in_order(method, todo) if workers == 1 else at_once(method, todo, done, queries, workers)
        for number, record in enumerate(records, start=1):
            written = self.folder.append(record)
            self.listener(method.name, number, len(todo), written)
            in_a_row = in_a_row + 1 if ended_by_engine(written) else 0
            if in_a_row >= self.stop_after and number < len(todo):
                raise EngineGone(
                    f"{in_a_row} queries in a row ended with {record.error}; every record is kept: mend the model "
                    "server, then run the same command with --resume"
                )

    def take_up(self, method: str) -> dict[str, int]:
        """Give the queries that are done, with their positions.

        If the run stopped because the engine was gone, the queries that found it gone are taken back and not done.
        """
        done: dict[str, int] = {}
        trailing: set[str] = set()
        for record in self.folder.records():
            if record.method == method:
                done[record.query_id] = record.position
                trailing = {*trailing, record.query_id} if ended_by_engine(record) else set()
        if len(trailing) >= self.stop_after:
            self.folder.withdraw(method, frozenset(trailing))
            return {query_id: position for query_id, position in done.items() if query_id not in trailing}
        return done


def ended_by_engine(record: QueryRecord) -> bool:
    """Tell whether the engine, and not the query, ended it."""
    return not record.is_complete and (record.error or "").startswith(ENGINE_FAULTS)


def in_order(method: Method, queries: Iterable[Query]) -> Iterator[QueryRecord]:
    """Run one query after another."""
    return map(method.run, queries)


def at_once(
    method: Method, todo: Sequence[Query], done: frozenset[int], every: Sequence[Query], workers: int
) -> Iterator[QueryRecord]:
    """Run several queries at once, and give each record as soon as it is there.

    Ctrl-C starts no more and waits for those under way, which a second Ctrl-C gives up.
    """
    lanes = Lanes(todo, done, every)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="query")
    under_way: dict[Future[QueryRecord], Query] = {}
    stopping = False
    try:
        while True:
            while not stopping and len(under_way) < workers and (query := lanes.take()) is not None:
                under_way[pool.submit(copy_context().run, method.run, query)] = query
            if not under_way:
                break
            try:
                finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                if stopping:
                    raise
                stopping = True
                continue
            for future in sorted(finished, key=lambda f: under_way[f].position):
                lanes.finished(under_way.pop(future))
                yield future.result()
        if stopping:
            raise KeyboardInterrupt
    finally:  # also where the caller stops listening
        pool.shutdown(wait=False, cancel_futures=True)


class Lanes:
    """Which query may start next: of those that share a collection, one must have finished before the others start."""

    def __init__(self, todo: Sequence[Query], done: frozenset[int], every: Sequence[Query]) -> None:
        uses = Counter(query.collection.digest for query in every)
        ready = {query.collection.digest for query in every if query.position in done}
        self._ready: deque[Query] = deque()
        self._waiting: dict[str, deque[Query]] = {}
        for query in todo:
            digest = query.collection.digest
            if uses[digest] == 1 or digest in ready:
                self._ready.append(query)
            elif digest in self._waiting:
                self._waiting[digest].append(query)
            else:
                self._waiting[digest] = deque()
                self._ready.append(query)

    def take(self) -> Query | None:
        """Give the next query that may start, or None while there is none."""
        return self._ready.popleft() if self._ready else None

    def finished(self, query: Query) -> None:
        """Let those start that waited for this one."""
        waiting = self._waiting.pop(query.collection.digest, None)
        if waiting:
            self._ready = deque(sorted([*self._ready, *waiting], key=lambda q: q.position))
