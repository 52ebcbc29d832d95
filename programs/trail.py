"""What a query leaves behind as it runs. It is written step by step, so it survives whatever ends the query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from programs.contract import Rejection
from programs.state import OWNED_FIELD, Action, EvidenceRecord, Role, State, StateField, plain


class Commit(BaseModel):
    """One committed field value. The commits in order are the query's whole history of states."""

    model_config = ConfigDict(frozen=True)
    cycle: int
    role: Role
    field: StateField
    value: Any


class Considered(BaseModel):
    """The evidence that a role had before it when it proposed, whether or not its proposal was committed.

    The Navigator's is what it scored, the ends of its traces first; the Retriever's is its candidates, in order.
    """

    model_config = ConfigDict(frozen=True)
    cycle: int
    role: Role
    evidence_ids: tuple[str, ...]


@dataclass
class Trail:
    """The commits, rejections, actions and admitted evidence of one query."""

    states: list[Commit] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    cycles: int = 0
    evidence: tuple[EvidenceRecord, ...] = ()
    answer: str = ""
    status: Literal["completed", "incomplete"] = "incomplete"
    error: str | None = None
    unreadable: int = 0
    """Completions that a method without a contract could not read and did without."""

    @property
    def action(self) -> Action | None:
        """The terminal action; None where the query never reached one."""
        last = self.actions[-1] if self.actions else None
        return None if last is Action.REVISE else last

    def committed(self, state: State, role: Role, cycle: int) -> None:
        """Write down the field that a role has just had committed."""
        name = OWNED_FIELD[role]
        self.states.append(Commit(cycle=cycle, role=role, field=name, value=plain(getattr(state, name))))
