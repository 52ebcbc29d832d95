"""What a query leaves behind as it runs. It is written step by step, so it survives whatever ends the query."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from metrics.record import UNREADABLE, Action, EvidenceRecord, Refusal, Rejection, Support
from metrics.record import Commit as Commit
from metrics.record import Considered as Considered


@dataclass
class Transcript:
    """The commits, rejections, actions and admitted evidence of one query."""

    states: list[Commit] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    cycles: int = 0
    evidence: tuple[EvidenceRecord, ...] = ()
    answer: str = ""
    cited: tuple[str, ...] = ()
    support: Support | None = None
    status: Literal["completed", "incomplete"] = "incomplete"
    error: str | None = None
    refusals: list[Refusal] = field(default_factory=list)
    unreadable: int = 0
    """Completions that a method without a contract could not read and did without."""

    @property
    def parse_failures(self) -> int:
        """The completions that were no use: a role's are rejections, a baseline goes on without."""
        return self.unreadable + sum(rejection.reason in UNREADABLE for rejection in self.rejections)

    @property
    def action(self) -> Action | None:
        """The terminal action; None where the query never reached one."""
        last = self.actions[-1] if self.actions else None
        return None if last is Action.REVISE else last
