"""Self-RAG, prompted: a stock model has no reflection tokens, so the reflections are labels in words.

The scoring rule is the published one. Where the engine says what was likely at each place of a completion, a label's
probability is that of the token it begins with, against those of the other labels; elsewhere the label that the model
says has probability 1. Either way one call a passage. The published code divides log-probabilities to decide on
retrieval; here probabilities are compared. Its optional term for the likelihood of the whole draft is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.prompt_room import head
from programs.methods.segments import SegmentIndex, segment_index
from programs.methods.selfrag.labels import ALTERNATIVES, Label, expected
from programs.methods.selfrag.settings import SelfragSettings
from programs.models.language_model import LanguageModel
from programs.state import EvidenceRecord
from programs.tam.segment import Segment
from signatures.baselines.selfrag import DecideRetrieval, Reflection, ReflectOnPassage, Retrieval

Values = Mapping[Label, float]

RETRIEVE: Values = {"yes": 1.0, "no": 0.0}
RELEVANT: Values = {"yes": 1.0, "no": 0.0}
SUPPORTED: Values = {"full": 1.0, "partial": 0.5, "none": 0.0}
USEFUL: Values = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}
"""What each label is worth: a reflection's score is the value to be expected of it."""


class SelfRAG(EvidenceProgram):
    """Decides on retrieval, reflects on each near segment, and keeps those of the best score."""

    name = "selfrag"

    def assemble(self) -> None:
        """Make the method's own parts."""
        self.retrieval = RetrievalDecision()
        self.reflection = Critic(self.settings.of(SelfragSettings))

    def index(self, run: QueryRun) -> SegmentIndex:
        """Cut the sources into the same segments as StateRAG's and encode them."""
        return segment_index(self, run)

    def select(self, run: QueryRun, index: SegmentIndex) -> Sequence[EvidenceRecord]:
        """Keep segments by score, ties by similarity, and after them those whose reflection could not be read.

        Where retrieval is declined the original answers from what its model knows. The shared reader answers from
        evidence alone, so it is given the least there is: the nearest segment, which no reflection has chosen.
        """
        settings = self.settings.of(SelfragSettings)
        order = index.nearest(run.query.question, self.runtime.encoder)[: settings.passages]
        near = [index.segments[i] for i in order]
        if not near:
            return []
        if not self._retrieves(run):
            return [segment.record() for segment in near[: settings.unretrieved]]
        scores = self._scores(run, near)
        best = sorted(range(len(near)), key=lambda i: -scores[i])
        return [near[i].record() for i in best[: settings.keep]]

    def _retrieves(self, run: QueryRun) -> bool:
        """Ask whether to retrieve. A decision that can't be read is no reason to do without evidence."""
        settings = self.settings.of(SelfragSettings)
        if settings.mode == "always":
            return True
        decision = run.ask(
            self.retrieval,
            "retrieval",
            settings.decision_tokens,
            question=run.query.question,
        )
        return decision is None or bool(decision.probability > settings.threshold)

    def _scores(self, run: QueryRun, segments: Sequence[Segment]) -> list[float]:
        settings = self.settings.of(SelfragSettings)
        shown = [head(segment.text, settings.passage_tokens, self.runtime.encoder) for segment in segments]
        reflections = run.ask_all(
            self.reflection,
            "reflection",
            settings.reflection_tokens,
            [{"question": run.query.question, "passage": text} for text in shown],
        )
        return [float("-inf") if reflection is None else reflection.score for reflection in reflections]


class RetrievalDecision(dspy.Module):  # type: ignore[misc]
    """Retrieve: how probable it is that passages are wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.decide = dspy.Predict(DecideRetrieval)

    def forward(self, lm: LanguageModel, config: dict[str, Any], question: str) -> dspy.Prediction:
        """Ask for a label, and weigh it against the other."""
        made = self.decide(question=question, lm=lm, config=telling(lm, config))
        said: Retrieval = made.retrieval
        return dspy.Prediction(probability=expected(made.get("logprobs"), "retrieve", said.retrieve, RETRIEVE))


class Critic(dspy.Module):  # type: ignore[misc]
    """ISREL, a draft, ISSUP and ISUSE of one passage, in one generation as in the original, and their score."""

    def __init__(self, settings: SelfragSettings) -> None:
        super().__init__()
        self.reflect = dspy.Predict(ReflectOnPassage)
        self.weights = (settings.relevance_weight, settings.support_weight, settings.utility_weight)

    def forward(self, lm: LanguageModel, config: dict[str, Any], question: str, passage: str) -> dspy.Prediction:
        """Draft once, and weigh all labels at their places in the completion."""
        made = self.reflect(question=question, passage=passage, lm=lm, config=telling(lm, config))
        said: Reflection = made.reflection
        logprobs = made.get("logprobs")
        parts = (
            expected(logprobs, "relevant", said.relevant, RELEVANT),
            expected(logprobs, "supported", said.supported, SUPPORTED),
            expected(logprobs, "useful", said.useful, USEFUL),
        )
        return dspy.Prediction(score=sum(weight * part for weight, part in zip(self.weights, parts, strict=True)))


def telling(lm: LanguageModel, config: dict[str, Any]) -> dict[str, Any]:
    """Also ask what else was likely at each place, where the engine can say."""
    return config | (ALTERNATIVES if lm.engine.capabilities.token_logprobs else {})
