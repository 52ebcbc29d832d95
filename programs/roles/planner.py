"""The Planner proposes p: what to look for now."""

from __future__ import annotations

import dspy

from programs.content_key import content_key
from programs.memory.artifacts import Kind, MemoryScope
from programs.roles.quotes import quotes
from programs.roles.view import View, asking
from programs.state import Role
from signatures.planner import Plan, ProposePlan


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
                query=view.query,
                state=describe(view),
                artifacts=offered(view),
                revision=view.revision or "none",
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
    lines = [f"previous plan: {state.plan.text}", "evidence so far:"]
    return "\n".join([*lines, *(f"- {quote}" for quote in quotes(view))])


def offered(view: View) -> str:
    """List the artifacts in U, with the plans among them spelt out."""
    lines = list(view.state.artifacts)
    for payload in view.tools.memories[Role.PLANNER].similar_plans():
        plan = Plan.model_construct(objective=payload["objective"], targets=tuple(payload["targets"]))
        lines.append(f"plan of a similar query: {plan.text}")
    return "\n".join(lines) or "none"
