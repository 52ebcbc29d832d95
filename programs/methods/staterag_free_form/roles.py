"""The four roles with a shared trajectory: the same tasks and tools, told and answered in words.

A role that the settings give to an encoder says nothing; then what its tool gave is all that is appended. The text of
evidence that was kept is appended too, since no field holds it for the Verifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from programs.carriers.freeform import Said, Trajectory
from programs.contract import Reason
from programs.methods.staterag_free_form.parsing import named_in, scores_in, verdict_in
from programs.models.encoders.encoder import Vectors
from programs.roles.navigator import Navigator
from programs.roles.planner import Planner, offered
from programs.roles.retriever import MODEL, RANKERS, Retriever, carried_and_candidates, completed
from programs.roles.scorers import Goal, TraceScorer
from programs.roles.verifier import Verifier
from programs.roles.view import ProposalFault, View, asking, numbered, unreadable
from programs.state import EvidenceRecord, Path, Role, Trace, Verdict
from signatures.freeform import JudgeEvidenceInWords, ProposePlanInWords, ScoreTracesInWords, SelectEvidenceInWords


@dataclass(frozen=True)
class WordsToSearch:
    """A Planner's words as the query of the tools: all of them, since nothing says which of them are targets."""

    text: str

    @property
    def targets(self) -> tuple[str, ...]:
        """The one thing to look for."""
        return (self.text,)


def told(view: View) -> str:
    """Give the trajectory as prompts have it."""
    assert isinstance(view.state, Trajectory)  # these roles run under the free-form carrier alone
    return view.state.text or "empty"


def budget(view: View) -> dict[str, Any]:
    """Give the same room for words as for JSON."""
    return {"lm": view.tools.auxiliary, "config": {"max_tokens": view.tools.settings.lifecycle.role_tokens}}


class FreeFormPlanner(Planner):
    """Its words are the search. There is no typed plan to leave in global memory, which no query could read anyway."""

    def __init__(self) -> None:
        super().__init__()
        self.propose = dspy.Predict(ProposePlanInWords)

    def forward(self, view: View) -> dspy.Prediction:
        """Say what to look for now."""
        ledger = view.tools.ledger
        with asking(ledger, Role.PLANNER):
            words = self.propose(query=view.query, trajectory=told(view), artifacts=offered(view), **budget(view)).words
        if not words:
            raise unreadable(ledger, "nothing was said, so there is nothing to search for", words)
        return dspy.Prediction(value=Said(words, WordsToSearch(words)))


class FreeFormNavigator(Navigator):
    """Calls the same tool. The graph offers admissible steps alone, and a trace that it did not offer is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.score = dspy.Predict(ScoreTracesInWords)

    def forward(self, view: View) -> dspy.Prediction:
        """Navigate by words, and append them with what the tool found."""
        words: list[str] = []
        found = self.walk(view, lambda goal, cosines: WordScorer(view, goal, cosines, self.score, words))
        text = "\n".join([*words, walked(found.value)])
        return dspy.Prediction(value=Said(text, found.value), considered=found.considered)


class WordScorer(TraceScorer):
    """Scores traces by what a model says of them."""

    def __init__(self, view: View, goal: Goal, cosines: Vectors, predictor: Any, words: list[str]) -> None:
        super().__init__(view, goal, cosines, predictor)
        self._words = words

    def _ask(self, traces: Sequence[Trace]) -> list[float]:
        words = self._predict(traces, query=self.view.query, trajectory=told(self.view)).words
        scores = scores_in(words)
        if not scores:
            raise unreadable(self.view.tools.ledger, "no trace was named with a score between 0 and 1", words)
        unknown = sorted(set(scores) - set(range(1, len(traces) + 1)))
        if unknown:
            raise ProposalFault(Reason.UNKNOWN_NODE, f"traces {unknown} were not shown (1–{len(traces)})", words)
        self._words.append(words)
        return [scores.get(i, 0.0) for i in range(1, len(traces) + 1)]


def walked(path: Path) -> str:
    """Say what the navigation tool found."""
    return "Path: " + " ; ".join(" → ".join(str(node) for node in trace) for trace in path)


class FreeFormRetriever(Retriever):
    """Keeps the candidates that it names, up to the cap."""

    def __init__(self) -> None:
        super().__init__()
        self.select = dspy.Predict(SelectEvidenceInWords)

    def forward(self, view: View) -> dspy.Prediction:
        """Choose evidence, and append its text."""
        carried, candidates = carried_and_candidates(view)
        ranker = view.tools.settings.retriever.ranker
        words: list[str] = []
        if ranker == MODEL:
            words.append(self.say(view, candidates))
            kept = named_in(words[0], candidates)[: view.cap]
            if not kept:
                raise unreadable(view.tools.ledger, "no candidate was named", words[0])
        else:
            kept = RANKERS.get(ranker)(self, view, candidates) if candidates else ()
        kept = completed(view, carried, kept)
        found = self.proposal(view, candidates, kept)
        return dspy.Prediction(value=Said("\n".join([*words, shown(kept)]), kept), considered=found.considered)

    def say(self, view: View, candidates: list[EvidenceRecord]) -> str:
        """Have the model choose in words."""
        with asking(view.tools.ledger, Role.RETRIEVER):
            words: str = self.select(
                query=view.query, trajectory=told(view), candidates=numbered(candidates), cap=view.cap, **budget(view)
            ).words
        return words


def shown(kept: Sequence[EvidenceRecord]) -> str:
    """Show what was kept, without numbers: those that the words name are of candidates."""
    return "\n\n".join(["Evidence:", *(f"({record.evidence_id})\n{record.text}" for record in kept)])


class FreeFormVerifier(Verifier):
    """The last PASS or FAIL of its words is its verdict, and the words are all the justification there is."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(JudgeEvidenceInWords)

    def forward(self, view: View) -> dspy.Prediction:
        """Judge, and append it."""
        verdict = super().forward(view).value
        words = verdict.justification
        if verdict_in(words) is not verdict.label:  # counted, not asked
            words = f"{words} {verdict.label}"
        return dspy.Prediction(value=Said(words, verdict))

    def ask(self, view: View) -> Verdict:
        """Judge by the paper's prompt, in words."""
        ledger = view.tools.ledger
        with asking(ledger, Role.VERIFIER):
            words = self.judge(query=view.query, trajectory=told(view), **budget(view)).words
        label = verdict_in(words)
        if label is None:
            raise unreadable(ledger, "neither PASS nor FAIL was said", words)
        return Verdict(label=label, justification=words)
