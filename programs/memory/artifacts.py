"""What memory may hold. A class that has no `Kind` here, such as an answer or a label, can't be stored."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from programs.contract import first_error
from programs.frozen import Frozen
from programs.state import Role
from signatures.planner import Plan

NonEmpty = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
EVIDENCE_ID = re.compile(r"(.+)#[0-9]+-[0-9]+", re.DOTALL)
"""A source's id, and characters of it."""
Payload = dict[str, Any]
"""A payload as JSON values, of the shape that `PAYLOADS` gives its kind."""


class MemoryScope(StrEnum):
    """Where an artifact lives: M_g of a workload, M_t of a query, or M_a of one role in one query."""

    GLOBAL = "global"
    QUERY = "query"
    PRIVATE = "private"


class Kind(StrEnum):
    """The classes of artifact. Reference answers, evaluation labels and reader outputs have none, on purpose."""

    ABSTRACTION = "abstraction"
    TRACE_SCORE = "trace_score"
    PLAN = "plan"
    SELECTION = "selection"
    JUSTIFICATION = "justification"


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TextPayload(_Shape):
    """An abstraction, or a verifier's justification."""

    text: NonEmpty


class TraceScorePayload(_Shape):
    """A scorer's value of one node under one plan; any finite number, since scorers differ in range."""

    score: float = Field(strict=True, allow_inf_nan=False)


class PlanPayload(Plan):
    """A plan and the query that it was made for."""

    query: NonEmpty


class SelectionPayload(_Shape):
    """Evidence that was kept, best first."""

    evidence_ids: tuple[NonEmpty, ...] = Field(min_length=1)


PAYLOADS: Mapping[Kind, type[BaseModel]] = {
    Kind.ABSTRACTION: TextPayload,
    Kind.TRACE_SCORE: TraceScorePayload,
    Kind.PLAN: PlanPayload,
    Kind.SELECTION: SelectionPayload,
    Kind.JUSTIFICATION: TextPayload,
}


class NotEligible(ValueError):
    """A payload of the wrong shape, or without valid provenance: a fault of the code that offered it."""


class Artifact(Frozen):
    """One artifact. Its id follows from its scope and content key, so that a repeated artifact is stored once."""

    artifact_id: str
    kind: Kind
    payload: Payload
    producer: Role
    scope: MemoryScope
    query_id: str | None = Field(None, description="whose query it is; None for a global artifact")
    owner: Role | None = Field(None, description="whose private store it is in; None elsewhere")
    provenance: tuple[NonEmpty, ...] = Field(min_length=1, description="source ids, evidence ids or the query's id")
    key: NonEmpty
    grounds: tuple[NonEmpty, ...] = Field((), description="names of the contents of the sources that it stands on")
    asked_of: str | None = Field(None, description="the collection of the query that it came of, where it names one")

    @field_validator("payload")
    @classmethod
    def _has_the_shape_of_its_kind(cls, payload: Payload, info: ValidationInfo) -> Payload:
        """Keep a checked copy, so that nobody holds a reference into memory."""
        if "kind" not in info.data:
            return payload
        try:
            return PAYLOADS[info.data["kind"]].model_validate(payload).model_dump(mode="json")
        except ValidationError as error:
            raise ValueError(first_error(error)) from error

    @model_validator(mode="after")
    def _is_consistent(self) -> Artifact:
        if (self.query_id is None) != (self.scope is MemoryScope.GLOBAL):
            raise ValueError(f"a {self.scope} artifact {'has' if self.query_id is None else 'belongs to'} no query")
        if self.owner != (self.producer if self.scope is MemoryScope.PRIVATE else None):
            raise ValueError(f"a {self.scope} artifact of the {self.producer} can't be owned by {self.owner}")
        if self.artifact_id != artifact_id(self.scope, self.kind, self.key, self.query_id, self.owner):
            raise ValueError(f"{self.artifact_id!r} is not this artifact's id")
        return self


def artifact_id(scope: MemoryScope, kind: Kind, key: str, query_id: str | None, owner: Role | None) -> str:
    """Name an artifact by its kind and a digest of where it belongs and what it was made from."""
    query = query_id or ""
    address = f"{scope}|{kind}|{owner}|{len(query)}|{query}|{key}"
    return f"{kind}-{hashlib.sha256(address.encode(errors='surrogatepass')).hexdigest()[:16]}"


def make_artifact(
    kind: Kind,
    key: str,
    payload: Payload,
    producer: Role,
    scope: MemoryScope,
    query_id: str,
    provenance: Sequence[str],
    grounds: Iterable[str] = (),
    asked_of: str | None = None,
) -> Artifact:
    """Make an artifact that `producer` made in `query_id`, or raise `NotEligible` saying what is wrong with it."""
    home = None if scope is MemoryScope.GLOBAL else query_id
    owner = producer if scope is MemoryScope.PRIVATE else None
    try:
        return Artifact(
            artifact_id=artifact_id(scope, kind, key, home, owner),
            kind=kind,
            payload=payload,
            producer=producer,
            scope=scope,
            query_id=home,
            owner=owner,
            provenance=tuple(provenance),
            key=key,
            grounds=tuple(sorted(set(grounds))),
            asked_of=asked_of,
        )
    except ValidationError as error:
        raise NotEligible(f"this {kind} can't be kept in memory: {first_error(error)}") from error


def is_empty(payload: Payload) -> bool:
    """Tell whether a payload says nothing, as a small model's completion sometimes does."""
    return not any(
        value.strip() if isinstance(value, str) else value != [] and value != () for value in payload.values()
    )


def sources_of(provenance: Sequence[str], query_id: str, sources: Container[str]) -> list[str]:
    """Give the sources that provenance names, by themselves or by evidence of theirs.

    Raises `NotEligible` where an item is neither that nor the query's id.
    """
    named: list[str] = []
    for item in provenance:
        evidence = EVIDENCE_ID.fullmatch(item)
        if item in sources:
            named.append(item)
        elif evidence and evidence[1] in sources:
            named.append(evidence[1])
        elif item != query_id:
            raise NotEligible(f"provenance {item!r} is neither query {query_id!r} nor in its source collection")
    return named
