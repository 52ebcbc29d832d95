"""The pool 𝓜_q = ⟨M_g, M_t, {M_a}⟩: what a query and its roles may find in memory, and what they leave there."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from metrics.record import Refusal
from programs.documents.collection import Collection
from programs.memory.artifacts import (
    Artifact,
    Kind,
    MemoryScope,
    NotEligible,
    Payload,
    artifact_id,
    is_empty,
    make_artifact,
    sources_of,
)
from programs.memory.permissions import NotPermitted, Operation, RefusalReason, objection
from programs.memory.store import SqliteStore, StoredArtifact
from programs.models.encoders.encoder import Vectors
from programs.settings import MemorySettings
from programs.state import Action, Role

MAX_RESOLVED = 8
"""The most identifiers in U, which every Planner prompt spells out."""


class Pool:
    """The memory of one workload scope χ: its global store, and a `QueryMemory` for each query while it runs."""

    def __init__(self, scope_key: str, path: Path | None, settings: MemorySettings) -> None:
        """Open the scope's file at `path`, with what earlier queries left in it; `None` keeps it in the process."""
        self.scope_key = scope_key
        self.settings = settings
        self._store = SqliteStore(path, scope_key) if settings.enabled else None

    def open(
        self,
        query_id: str,
        position: int,
        text: str,
        collection: Collection,
        vector: Vectors | None = None,
    ) -> QueryMemory:
        """Begin the query at `position` (from 0) in the query order; it sees what the queries before it left.

        What it leaves must come from its collection, and of what others left it sees what comes from there too.
        `vector` is the query's unit vector, without which no earlier plan is similar.
        """
        if position < 0:
            raise ValueError(f"positions in the query order count from 0, not {position}")
        return QueryMemory(self.settings, self._store, query_id, position, text, collection, vector)

    def rewind(self, position: int) -> None:
        """Forget what the queries from `position` on left, before a resumed run repeats them; 0 empties the scope."""
        if self._store is not None:
            self._store.rewind(position)

    @property
    def ordered(self) -> bool:
        """Whether memory passes from a query to the next, so that they must run one after another."""
        return self.settings.enabled and self.settings.keep_global and self.settings.order == "strict"

    def __deepcopy__(self, memo: dict[int, Any]) -> Pool:
        """Stay one: a copy of a program writes to the same memory."""
        return self

    def close(self) -> None:
        """Close the scope's file."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class QueryMemory:
    """Memory as one query sees it. The controller holds it; a role gets a `RoleMemory` and nothing more."""

    def __init__(
        self,
        settings: MemorySettings,
        store: SqliteStore | None,
        query_id: str,
        position: int,
        text: str,
        collection: Collection,
        vector: Vectors | None,
    ) -> None:
        self.query_id = query_id
        self.reads = 0
        """Permitted reads of the global store."""
        self.hits = 0
        """Those of them that returned at least one artifact."""
        self.refusals: list[Refusal] = []
        self._settings = settings
        self._store = store
        self._position = position
        self._text = text
        self._vector = vector
        self._sources = collection.contents
        self._contents = frozenset(collection.contents.values())
        self._asked_of = collection.digest
        self._reach = _reach(position, settings)
        self._local: dict[str, Artifact] = {}
        self._transient: dict[str, Artifact] = {}
        self._similar: list[str] | None = None
        self._known: dict[str, bool] = {self._asked_of: True}
        self._sealed = False
        self._ended = False

    @property
    def refused(self) -> int:
        """How many operations the permission table refused. They are neither reads nor hits."""
        return len(self.refusals)

    def handle(self, role: Role) -> RoleMemory:
        """Give a role its own door. What goes through it is asked in this role's name."""
        return RoleMemory(self, role)

    def resolve(self) -> tuple[str, ...]:
        """Give U: ids of similar earlier plans, best first, then of this query's artifacts, newest first.

        SMP resolves on nobody's behalf, so this counts as no read.
        """
        own = [name for name, artifact in self._local.items() if artifact.scope is MemoryScope.QUERY]
        return tuple([*self._similar_plans(), *reversed(own)][:MAX_RESOLVED])

    def readable(self, name: str) -> bool:
        """Tell whether an id is in a scope that this query may read, as a value of U must be."""
        return self.payload(name) is not None

    def payload(self, name: str) -> Payload | None:
        """Give what an id of U stands for. A private artifact is its role's alone and stands for nothing here."""
        local = self._local.get(name)
        if local is not None:
            return copy.deepcopy(local.payload) if local.scope is MemoryScope.QUERY else None
        found = self._find_global([name]).get(name)
        return None if found is None else found.payload

    def persist(self, action: Action | None) -> tuple[str, ...]:
        """Move what this cycle offered into its declared scopes, after the action was chosen; answer with the ids.

        Call it once an action, when the evidence is already selected. Any action but REVISE ends the offering: what
        comes later, such as the reader's output, finds the door shut. `None` says that the query is incomplete:
        what the failed cycle offered is dropped. Earlier cycles completed, and what they left stays.
        """
        offered, self._transient = list(self._transient.values()), {}
        self._sealed = self._sealed or action is not Action.REVISE
        if action is None or self._store is None:
            return ()
        lasting = [artifact for artifact in offered if artifact.scope is MemoryScope.GLOBAL]
        if lasting:
            self._store.persist(lasting, self._position, self._vector, self._contents)
        for artifact in offered:
            if artifact.scope is not MemoryScope.GLOBAL:
                self._local.setdefault(artifact.artifact_id, artifact)
        return tuple(artifact.artifact_id for artifact in offered)

    def close(self) -> None:
        """End the query: its own and its roles' stores are cleared, and the global one too where settings say so."""
        if self._ended:
            return
        self._ended = True
        self._local.clear()
        self._transient.clear()
        if self._store is not None and not self._settings.keep_global:
            self._store.rewind(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _find_global(self, names: Sequence[str]) -> dict[str, StoredArtifact]:
        """Give of each id the earliest artifact that this query may read."""
        if self._store is None or self._ended:
            return {}
        found = self._store.find(names, self._reach.stop, self._reach.start)
        return {
            name: next(filter(self._eligible, some)) for name, some in found.items() if any(map(self._eligible, some))
        }

    def _eligible(self, found: StoredArtifact) -> bool:
        """Tell whether an artifact's provenance resolves here.

        All that it stands on must be among this query's sources, by content. One that names the query it came of, as
        a plan does, was asked of at least one of them: without that it is of other documents altogether.
        """
        return self._contents.issuperset(found.grounds) and (found.asked_of is None or self._shares(found.asked_of))

    def _shares(self, collection: str) -> bool:
        assert self._store is not None
        if collection not in self._known:
            self._known[collection] = self._store.shares(collection, self._contents)
        return self._known[collection]

    def _similar_plans(self) -> list[str]:
        """Look once, so that U and the Planner speak of the same plans throughout the query."""
        if self._similar is None:
            self._similar = self._nearest_plans()
        return self._similar

    def _nearest_plans(self) -> list[str]:
        """Look further and further, since what is near may be of other documents."""
        limit, at_least = self._settings.similar_plans, self._settings.plan_similarity
        if self._store is None or self._vector is None:
            return []
        looked = limit
        while True:
            names = self._store.similar_plans(self._vector, at_least, looked, self._reach.stop, self._reach.start)
            eligible = self._find_global(names)
            if len(eligible) >= limit or len(names) < looked:
                return [name for name in names if name in eligible][:limit]
            looked *= 4

    def _admit(
        self, role: Role, operation: Operation, scope: MemoryScope, kind: Kind, of_query: str | None, owner: Role | None
    ) -> None:
        reason = objection(role, operation, scope, kind, query=self.query_id, of_query=of_query, owner=owner)
        if self._ended:
            reason = RefusalReason.QUERY_ENDED
        elif self._sealed and operation is Operation.WRITE:
            reason = RefusalReason.AFTER_TERMINAL
        if reason is not None:
            refusal = Refusal(
                role=role, operation=operation.value, scope=scope.value, kind=kind.value, reason=reason.value
            )
            self.refusals.append(refusal)
            raise NotPermitted(refusal)

    def _read(self, names: Sequence[str]) -> dict[str, Payload]:
        """Read global artifacts for a role that may: one read, and a hit if there is one that this query may see."""
        found = self._find_global(names)
        if self._store is not None:
            self.reads += 1
            self.hits += bool(found)
        return {name: found[name].payload for name in names if name in found}

    def _grounds(self, kind: Kind, provenance: Sequence[str]) -> set[str]:
        """Name the contents that an artifact stands on. A plan was shown earlier plans, and stands on theirs too."""
        grounds = {self._sources[source] for source in sources_of(provenance, self.query_id, self._sources)}
        shown = self._find_global(self._similar_plans()).values() if kind is Kind.PLAN else ()
        return grounds.union(*(plan.grounds for plan in shown))

    def _offer(self, artifact: Artifact) -> None:
        if artifact.kind is Kind.PLAN and artifact.payload["query"] != self._text:
            raise NotEligible(f"a plan of query {self.query_id!r} must carry that query's text")
        self._transient.setdefault(artifact.artifact_id, artifact)


def _reach(position: int, settings: MemorySettings) -> range:
    """Give the positions of the queries whose global artifacts the one at this position may use."""
    if not settings.keep_global:
        return range(0)
    return range(0 if settings.horizon is None else max(0, position - settings.horizon), position)


class RoleMemory:
    """Memory as one role sees it in one query. An operation outside the permission table raises `NotPermitted`."""

    def __init__(self, memory: QueryMemory, role: Role) -> None:
        self._memory = memory
        self._role = role

    def recall(self, kind: Kind, key: str, scope: MemoryScope = MemoryScope.GLOBAL) -> Payload | None:
        """Look one content key up: one read."""
        return self.recall_many(kind, [key], scope).get(key)

    def recall_many(
        self, kind: Kind, keys: Sequence[str], scope: MemoryScope = MemoryScope.GLOBAL
    ) -> dict[str, Payload]:
        """Look content keys up together: one read, and a hit if any is found."""
        self._admit(Operation.READ, scope, kind)
        home, owner = self._address(scope)
        names = {artifact_id(scope, kind, key, home, owner): key for key in keys}
        if scope is not MemoryScope.GLOBAL:
            found = {name: self._memory._local[name] for name in names if name in self._memory._local}
            return {names[name]: copy.deepcopy(artifact.payload) for name, artifact in found.items()}
        return {names[name]: payload for name, payload in self._memory._read(list(names)).items()}

    def read(self, name: str) -> Payload | None:
        """Give what an id of U stands for, where this role may read it; None for an id that stands for nothing.

        Where that is a global artifact it is a read like any other.
        """
        local = self._memory._local.get(name)
        if local is not None:
            self._memory._admit(self._role, Operation.READ, local.scope, local.kind, local.query_id, local.owner)
            return copy.deepcopy(local.payload)
        found = self._memory._find_global([name]).get(name)
        if found is None:
            return None
        self._admit(Operation.READ, MemoryScope.GLOBAL, found.kind)
        return self._memory._read([name])[name]

    def similar_plans(self) -> list[Payload]:
        """Give earlier plans of queries like this one, best first: one read, whether or not there are any."""
        self._admit(Operation.READ, MemoryScope.GLOBAL, Kind.PLAN)
        return list(self._memory._read(self._memory._similar_plans()).values())

    def offer(
        self, kind: Kind, key: str, payload: Payload, provenance: Sequence[str], scope: MemoryScope
    ) -> str | None:
        """Offer an artifact to a scope; it stays transient, and nobody can read it, until `persist`.

        Answers with its id, or None for an empty payload, which is not kept. A payload of another shape than its
        kind's, or without valid provenance, raises `NotEligible`. Of a repeated artifact the first is kept.
        """
        self._admit(Operation.WRITE, scope, kind)
        if is_empty(payload):
            return None
        memory = self._memory
        grounds = memory._grounds(kind, provenance)
        asked_of = memory._asked_of if memory.query_id in provenance else None
        artifact = make_artifact(kind, key, payload, self._role, scope, memory.query_id, provenance, grounds, asked_of)
        memory._offer(artifact)
        return artifact.artifact_id

    def _address(self, scope: MemoryScope) -> tuple[str | None, Role | None]:
        home = None if scope is MemoryScope.GLOBAL else self._memory.query_id
        return home, self._role if scope is MemoryScope.PRIVATE else None

    def _admit(self, operation: Operation, scope: MemoryScope, kind: Kind) -> None:
        home, owner = self._address(scope)
        self._memory._admit(self._role, operation, scope, kind, home, owner)
