"""The Verifier proposes z: PASS or FAIL, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import dspy

from programs.content_key import content_key
from programs.errors import ModelUnavailable
from programs.memory.artifacts import Kind, MemoryScope
from programs.models.ledger import Phase
from programs.registry import Registry
from programs.roles.view import View, asking, numbered
from programs.state import Role, Verdict, VerdictLabel
from signatures.verifier import JudgeEvidence

SUPPORTED = {
    "targets": "Every target is supported by a committed record.",
    "query": "The query is supported by a committed record.",
    "all": "The query and every target are supported by a committed record.",
    "query-first": "The query is supported by a committed record.",
}


class Verifier(dspy.Module):  # type: ignore[misc]
    """Judges by the rule that the settings name."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(JudgeEvidence)

    def forward(self, view: View) -> dspy.Prediction:
        """Propose a verdict on the committed evidence."""
        verdict = RULES.get(view.tools.settings.verifier.rule)(self, view)
        self._offer(view, verdict)
        return dspy.Prediction(value=verdict)

    def _offer(self, view: View, verdict: Verdict) -> None:
        """Leave the justification to the rest of this query."""
        if verdict.justification.strip():
            key = content_key(str(view.cycle), verdict.justification)
            ids = [record.evidence_id for record in view.state.evidence]
            view.tools.memories[Role.VERIFIER].offer(
                Kind.JUSTIFICATION, key, {"text": verdict.justification}, ids, MemoryScope.QUERY
            )

    def ask(self, view: View) -> Verdict:
        """Judge by the paper's prompt."""
        tools = view.tools
        with asking(tools.ledger, Role.VERIFIER):
            said = self.judge(
                query=view.query,
                evidence=numbered(view.state.evidence),
                lm=tools.auxiliary,
                config={"max_tokens": tools.settings.lifecycle.role_tokens},
            ).assessment
        return Verdict(label=VerdictLabel(said.verdict), justification=said.justification)

    def count(self, view: View) -> Verdict:
        """Judge by what is covered: a want is, by a record that bears on it.

        Where 'query-first' finds nothing on the query, the targets are looked at one by one, without the query, which
        would drown them: those that have nothing are what a revision must look for. Once a revision has looked, it is
        enough that each of its targets has something, for a question of several hops may have no record that bears on
        all of it.
        """
        assert view.state.plan is not None  # the Planner's commit precedes this role's turn
        settings = view.tools.settings.verifier
        with view.tools.ledger.scope(Role.VERIFIER.value, Phase.AUX):
            missing, supported = uncovered(view, wants(view), settings.threshold), SUPPORTED[settings.wants]
            if missing and settings.wants == "query-first":
                alone = uncovered(view, {each: each for each in view.state.plan.targets}, settings.target_threshold)
                if alone or view.cycle > 1:
                    missing, supported = alone, SUPPORTED["targets"]
        if missing:
            return Verdict(label=VerdictLabel.FAIL, justification="No evidence yet for: " + "; ".join(missing))
        return Verdict(label=VerdictLabel.PASS, justification=supported)


RULES: Registry[Callable[[Verifier, View], Verdict]] = Registry("verifier rule", "staterag.verifier_rules")
RULES.register("coverage")(Verifier.count)


@RULES.register("model")
def model(verifier: Verifier, view: View) -> Verdict:
    """Ask in the way that this Verifier asks: not all of them do it in JSON."""
    return verifier.ask(view)


@RULES.register("both")
def both(verifier: Verifier, view: View) -> Verdict:
    """Count first, and ask the model to agree with a PASS."""
    verdict = verifier.count(view)
    return verifier.ask(view) if verdict.label is VerdictLabel.PASS else verdict


def uncovered(view: View, wanted: Mapping[str, str], threshold: float) -> list[str]:
    """Name the wants that no record bears on, each asked for by its value."""
    scorer = view.tools.cross_encoder
    if scorer is None:
        raise ModelUnavailable("verifier.rule needs a cross-encoder but cross_encoder.engine is 'none'")
    texts = [record.text for record in view.state.evidence]
    return [want for want, asked in wanted.items() if float(scorer.score(asked, texts).max()) < threshold]


def wants(view: View) -> dict[str, str]:
    """Give what must be covered, and how each is asked for: a target in the query, since "street" alone says nothing.

    The query as a whole can be covered by a record of any hop. Where none bears on it, the first hop was missed, and
    then so were those that it leads to.
    """
    assert view.state.plan is not None  # the Planner's commit precedes this role's turn
    which = view.tools.settings.verifier.wants
    whole = {} if which == "targets" else {view.query: view.query}
    targets = view.state.plan.targets if which in ("targets", "all") else ()
    return whole | {target: f"{view.query} {target}" for target in targets}
