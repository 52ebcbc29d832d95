"""Roles whose completions may name other roles' fields, and what becomes of those: writes beside their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import dspy

from programs.carriers.unowned import Writes
from programs.contract import Reason
from programs.roles.view import ProposalFault, View
from programs.state import EvidenceRecord, Role, StateField, Verdict, VerdictLabel
from signatures.planner import Plan
from signatures.proposal import Proposal

_heard: ContextVar[list[Proposal]] = ContextVar("completions_of_this_turn")


@contextmanager
def hearing() -> Iterator[list[Proposal]]:
    """Collect what predictors give inside. Roles stand between them and the turn, and would not pass it on."""
    heard: list[Proposal] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


class HeardPredict(dspy.Predict):  # type: ignore[misc]
    """A predictor whose output is also heard whole, and not only for its role's own field."""

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Ask, and let the turn hear it."""
        prediction = super().forward(**inputs)
        (name,) = self.signature.output_fields
        _heard.get().append(prediction[name])
        return prediction


class UnownedTurn(dspy.Module):  # type: ignore[misc]
    """A role's turn. All that its completions name is proposed; of several, the last that names a field counts."""

    def __init__(self, operator: dspy.Module) -> None:
        super().__init__()
        self.operator = operator

    def forward(self, view: View) -> dspy.Prediction:
        """Have the role propose, and add what else it gave."""
        with hearing() as heard:
            proposal = self.operator(view)
        own = proposal.value
        if isinstance(own, Plan):
            own = Plan(objective=own.objective, targets=own.targets)
        others: dict[StateField, Any] = {}
        for completion in heard:
            others |= writes(completion, view)
        return dspy.Prediction(value=Writes(own, others), considered=proposal.get("considered"))


def writes(completion: Proposal, view: View) -> dict[StateField, Any]:
    """Read the writes to others' fields out of a completion: whatever it names beside what it was asked for.

    Half a plan, or a justification without a verdict, is a write all the same, which the field's type refuses.
    """
    asked = {name for name, field in type(completion).model_fields.items() if field.is_required()}
    given = {name: value for name, value in dict(completion).items() if name not in asked and value}
    found: dict[StateField, Any] = {}
    if {"objective", "targets"} & set(given):
        found[StateField.PLAN] = Plan.model_construct(**given)
    if "path" in given:
        found[StateField.PATH] = given["path"]
    if "evidence" in given:
        found[StateField.EVIDENCE] = named(given["evidence"], view)
    if {"verdict", "justification"} & set(given):
        label = VerdictLabel(given["verdict"]) if "verdict" in given else VerdictLabel.PENDING
        found[StateField.VERDICT] = Verdict(label=label, justification=given.get("justification", ""))
    return found


def named(evidence_ids: tuple[str, ...], view: View) -> tuple[EvidenceRecord, ...]:
    """Look evidence up by its ids, anywhere in the graph. An id of nothing can't be made a record."""
    graph = view.tools.graph
    nodes = [graph.node_of(evidence_id) for evidence_id in evidence_ids]
    if None in nodes:
        unknown = [name for name, node in zip(evidence_ids, nodes, strict=True) if node is None]
        raise ProposalFault(Reason.UNKNOWN_NODE, f"there is no evidence {unknown}", str(list(evidence_ids)))
    return tuple(graph.record(node, view.cycle) for node in nodes if node is not None)


def unowned(operators: dict[Role, dspy.Module]) -> dict[Role, dspy.Module]:
    """Let every role write every field."""
    return {role: UnownedTurn(operator) for role, operator in operators.items()}
