"""The typed state s = <p, π, E, z, U> and the types of its five fields.

A state is immutable. `_successor` makes the next one and is for `programs.contract` alone, which calls it after a
validator accepted the value; a test holds the rest of the code to that. Types that a query's record also holds are
defined beside it, in `metrics.record`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NoReturn, Protocol

from pydantic import BaseModel, ConfigDict

from metrics.record import Action as Action
from metrics.record import Address as Address
from metrics.record import Derived as Derived
from metrics.record import EvidenceRecord as EvidenceRecord
from metrics.record import Role as Role
from metrics.record import StateField as StateField
from metrics.record import VerdictLabel as VerdictLabel
from signatures.planner import Plan


class NodeType(StrEnum):
    """The types 𝒯 of the nodes of a typed graph."""

    ROOT = "Root"
    TOPIC = "Topic"
    RELATION = "Relation"
    EVIDENCE = "Evidence"


ADMISSIBLE: frozenset[tuple[NodeType, NodeType]] = frozenset(
    {
        (NodeType.ROOT, NodeType.TOPIC),
        (NodeType.TOPIC, NodeType.TOPIC),
        (NodeType.TOPIC, NodeType.RELATION),
        (NodeType.RELATION, NodeType.RELATION),
        (NodeType.RELATION, NodeType.EVIDENCE),
    }
)
"""The type pairs 𝒜 that a trace may step along."""

Trace = tuple[int, ...]
"""Node ids from the root to where the trace has got to."""

Path = tuple[Trace, ...]
"""The path field π: completed traces, in order. The paper's setting is a tuple of one."""


class Verdict(BaseModel):
    """The verdict field z: a label and its justification δ."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    label: VerdictLabel
    justification: str = ""


PENDING = Verdict(label=VerdictLabel.PENDING)


OPERATORS: tuple[Role, ...] = (Role.PLANNER, Role.NAVIGATOR, Role.RETRIEVER, Role.VERIFIER)
"""𝒪1…𝒪4, in the order in which a cycle asks them."""


OWNED_FIELD: dict[Role, StateField] = {
    Role.PLANNER: StateField.PLAN,
    Role.NAVIGATOR: StateField.PATH,
    Role.RETRIEVER: StateField.EVIDENCE,
    Role.VERIFIER: StateField.VERDICT,
    Role.SMP: StateField.ARTIFACTS,
}
"""Whose field is whose. A role never names a field: it is looked up here."""


class Sought(Protocol):
    """What to look for, as the tools of retrieval read it: a `Plan`, or the words of a Planner that writes none."""

    @property
    def text(self) -> str: ...

    @property
    def targets(self) -> tuple[str, ...]: ...


class Readable(Protocol):
    """The five fields as a role reads them. `State` has what was committed; without a contract, what was proposed."""

    @property
    def plan(self) -> Sought | None: ...

    @property
    def path(self) -> Path: ...

    @property
    def evidence(self) -> tuple[EvidenceRecord, ...]: ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def artifacts(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Proposed:
    """What each role proposed, for the next one to read, where no contract says whose value counts."""

    plan: Sought | None = None
    path: Path = ()
    evidence: tuple[EvidenceRecord, ...] = ()
    verdict: Verdict = PENDING
    artifacts: tuple[str, ...] = ()


class State:
    """The live state of one query after some commits."""

    __slots__ = ("artifacts", "evidence", "path", "plan", "verdict")

    plan: Plan | None
    path: Path
    evidence: tuple[EvidenceRecord, ...]
    verdict: Verdict
    artifacts: tuple[str, ...]

    def __init__(self) -> None:
        """Open an empty state: no plan, no path, no evidence, PENDING, no artifacts."""
        for name, value in (("plan", None), ("path", ()), ("evidence", ()), ("verdict", PENDING), ("artifacts", ())):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"the state is immutable: {name!r} changes only by a commit (programs.contract)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"the state is immutable: {name!r} can't be deleted")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a state is not pickled or copied; use to_dict() to show it")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and all(getattr(self, f) == getattr(other, f) for f in StateField)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, f) for f in StateField))

    def __repr__(self) -> str:
        return f"State({self.to_dict()})"

    def to_dict(self) -> dict[str, Any]:
        """Show the five fields as plain JSON values."""
        return {f.value: plain(getattr(self, f)) for f in StateField}


def plain(value: Any) -> Any:
    """Show a field's value as plain JSON values."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", warnings=False)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def _successor(state: State, field: StateField, value: Any) -> State:
    """Make the state that follows from an accepted value. Only `programs.contract` may call this."""
    successor = State()
    for name in StateField:
        object.__setattr__(successor, name, value if name is field else getattr(state, name))
    return successor
