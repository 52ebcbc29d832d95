"""The Planner proposes p: what to look for now."""

from __future__ import annotations

import dspy

from programs.content_key import content_key
from programs.memory.artifacts import Kind, MemoryScope
from programs.models.plain_text import line_lookalikes
from programs.roles.quotes import quotes
from programs.roles.view import View, asking
from programs.state import Role
from signatures.planner import Plan, ProposePlan

SOUGHT, FOUND, RECALLED = "previous plan", "evidence so far", "plan of a similar query"
NOTES = line_lookalikes(SOUGHT, FOUND, RECALLED)
"""Lines that only this module writes into what the Planner is shown."""


class Planner(dspy.Module):  # type: ignore[misc]
    """One call. Earlier plans of similar queries are context, never a substitute for the call."""

    def __init__(self) -> None:
        super().__init__()
        self.propose = dspy.Predict(ProposePlan)

    def forward(self, view: View) -> dspy.Prediction:
        """Propose a plan for the query as the state stands."""
        tools = view.tools
        with asking(tools.ledger, Role.PLANNER):
            prediction = self.propose(
                query=NOTES.break_up(view.query),
                state=describe(view),
                artifacts=offered(view),
                revision=NOTES.break_up(view.revision) or "none",
                lm=tools.auxiliary,
                config={"max_tokens": tools.settings.lifecycle.role_tokens},
            )
        self._offer(view, prediction.plan)
        return dspy.Prediction(value=prediction.plan)

    def _offer(self, view: View, plan: Plan) -> None:
        """Leave the plan to later queries like this one, should the cycle complete."""
        key = content_key(view.query, str(view.cycle), plan.text)
        shown = [record.evidence_id for record in view.state.evidence]
        payload = {"query": view.query, "objective": plan.objective, "targets": list(plan.targets)}
        view.tools.memories[Role.PLANNER].offer(Kind.PLAN, key, payload, (view.query_id, *shown), MemoryScope.GLOBAL)


def describe(view: View) -> str:
    """Serialise the state for the Planner: what was sought, and what the evidence says of it.

    A revised plan has to name what the first hop found, so the most telling sentences are quoted; whole records would
    cost more tokens than the rest of the prompt.
    """
    state = view.state
    if state.plan is None:
        return "empty"
    lines = [f"{SOUGHT}: {NOTES.break_up(state.plan.text)}", f"{FOUND}:"]
    return "\n".join([*lines, *(f"- {NOTES.break_up(quote)}" for quote in quotes(view))])


def offered(view: View) -> str:
    """List the artifacts in U, with the plans among them spelt out."""
    lines = list(view.state.artifacts)
    for payload in view.tools.memories[Role.PLANNER].similar_plans():
        plan = Plan.model_construct(objective=payload["objective"], targets=tuple(payload["targets"]))
        lines.append(f"{RECALLED}: {NOTES.break_up(plan.text)}")
    return "\n".join(lines) or "none"
