"""The typed state s = <p, π, E, z, U> and the types of its five fields.

A state is immutable. `_successor` makes the next one and is for `programs.contract` alone, which calls it after a
validator accepted the value; a test holds the rest of the code to that.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field

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


class VerdictLabel(StrEnum):
    """𝒱. PENDING only opens a cycle; a completed cycle has PASS or FAIL."""

    PENDING = "PENDING"
    PASS = "PASS"
    FAIL = "FAIL"


class Verdict(BaseModel):
    """The verdict field z: a label and its justification δ."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    label: VerdictLabel
    justification: str = ""


PENDING = Verdict(label=VerdictLabel.PENDING)


class Address(BaseModel):
    """Characters [start, end) of a source."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str
    start: int = Field(ge=0)
    end: int


class Derived(BaseModel):
    """Says that a text is not source text, what it is, and which regions of the sources it was made from."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str = Field(min_length=1, description="summary, statement, report, …")
    regions: tuple[Address, ...] = Field(min_length=1)


class EvidenceRecord(BaseModel):
    """One item of the evidence field E: characters of a source, and the cycle that committed them.

    A baseline may also hand over a text that a model made; `derived` says so, and the record's own address is then
    that of the first region it was made from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    evidence_id: str
    source_id: str
    start: int = Field(ge=0)
    end: int
    text: str
    cycle: int = Field(ge=0, description="0 before the first cycle (BYPASS), else the cycle that first committed it")
    derived: Derived | None = Field(None, description="None where the text is source text")


class Role(StrEnum):
    """Who may propose. SMP supplies the artifact field; the four operators supply the others, in this order."""

    PLANNER = "planner"
    NAVIGATOR = "navigator"
    RETRIEVER = "retriever"
    VERIFIER = "verifier"
    SMP = "smp"


OPERATORS: tuple[Role, ...] = (Role.PLANNER, Role.NAVIGATOR, Role.RETRIEVER, Role.VERIFIER)
"""𝒪1…𝒪4, in the order in which a cycle asks them."""


class StateField(StrEnum):
    """The five fields."""

    PLAN = "plan"
    PATH = "path"
    EVIDENCE = "evidence"
    VERDICT = "verdict"
    ARTIFACTS = "artifacts"


OWNED_FIELD: dict[Role, StateField] = {
    Role.PLANNER: StateField.PLAN,
    Role.NAVIGATOR: StateField.PATH,
    Role.RETRIEVER: StateField.EVIDENCE,
    Role.VERIFIER: StateField.VERDICT,
    Role.SMP: StateField.ARTIFACTS,
}
"""Whose field is whose. A role never names a field: it is looked up here."""


class Action(StrEnum):
    """What the controller chooses. REVISE is the only one that does not end the query."""

    BYPASS = "BYPASS"
    RELEASE = "RELEASE"
    REVISE = "REVISE"
    FALLBACK = "FALLBACK"


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
