"""The Navigator proposes π: completed traces through the typed graph, one a cycle or one a plan target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import dspy

from programs.contract import Reason
from programs.models.encoders.encoder import Vectors
from programs.roles.quotes import quotes, telling
from programs.roles.scorers import Goal, TraceScorer
from programs.roles.view import ProposalFault, View, asking
from programs.state import Path, Role, Trace
from programs.tam.navigate import navigate
from signatures.navigator import ScoreTraces


class Navigator(dspy.Module):  # type: ignore[misc]
    """Searches within the limits of `NavigationSettings`; only completed traces are proposed."""

    def __init__(self) -> None:
        super().__init__()
        self.score = dspy.Predict(ScoreTraces)

    def forward(self, view: View) -> dspy.Prediction:
        """Propose the best completed traces of each goal; Cmax is shared among the goals."""
        return self.walk(view, lambda goal, cosines: TraceScorer(view, goal, cosines, self.score))

    def walk(self, view: View, scorer: Callable[[Goal, Vectors], TraceScorer]) -> dspy.Prediction:
        """Search with a scorer for each goal."""
        taken = {trace[-1] for trace in view.state.path}
        path: list[Trace] = []
        seen: list[int] = []
        goals = goals_of(view)
        spent = 0
        chain = view.tools.settings.navigation.chain
        with asking(view.tools.ledger, Role.NAVIGATOR):
            known = quotes(view) if chain and view.cycle > 1 else []
            for i, goal in enumerate(goals):
                goal = chained(view, goal, known)
                share = (view.tools.settings.navigation.candidates - spent) // (len(goals) - i)
                cosines = view.tools.graph.cosines(
                    view.tools.query_vector(goal.text), view.tools.settings.navigation.reading
                )
                found = navigate(
                    view.tools.graph,
                    cosines,
                    scorer(goal, cosines),
                    view.tools.settings.navigation,
                    budget=share,
                    avoid=taken,
                )
                spent += found.scored
                seen.extend(found.seen)
                best = [ended.trace for ended in found.completed[: view.tools.settings.navigation.traces]]
                path.extend(best)
                taken.update(trace[-1] for trace in best)
                if best and chain and i + 1 < len(goals):  # quoting encodes sentences, so only where a goal reads it
                    known = [telling(view, goal.text, view.tools.graph.text(best[0][-1]))]
        if not path:
            raise ProposalFault(Reason.NO_PROPOSAL, "no trace reached an Evidence node within the limits")
        return dspy.Prediction(value=unique(path), considered=considered(view, path, seen))


def goals_of(view: View) -> list[Goal]:
    """Give what to navigate towards: query and plan together (the paper), or each target by itself."""
    plan = view.state.plan
    assert plan is not None  # the Planner's commit precedes this role's turn
    if view.tools.settings.navigation.paths == "one":
        return [Goal(text=f"{view.query} {plan.text}", plan=plan.text)]
    whole = [view.query] if view.tools.settings.navigation.paths == "plan" else []
    return [Goal(text=target, plan=target) for target in dict.fromkeys([*whole, *plan.targets])]


def chained(view: View, goal: Goal, known: list[str]) -> Goal:
    """Read a goal together with what the goal before it, or the cycle before, found: a hop is named by the last one.

    "Where was the founder born?" is like no document until the founder's name stands beside it.
    """
    if not view.tools.settings.navigation.chain or not known:
        return goal
    return replace(goal, text=" ".join([goal.text, *known]))


def considered(view: View, path: list[Trace], seen: list[int]) -> tuple[str, ...]:
    """Name the Evidence nodes that were scored, each once: those that the traces end at, then the others."""
    nodes = dict.fromkeys([*(trace[-1] for trace in path), *seen])
    return tuple(evidence_id for node in nodes for evidence_id in view.tools.graph.provenance(node))


def unique(path: list[Trace]) -> Path:
    """Drop a trace that two goals agree on."""
    return tuple(dict.fromkeys(path))
