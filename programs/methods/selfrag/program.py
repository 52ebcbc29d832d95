"""Self-RAG, prompted: a stock model has no reflection tokens, so the reflections are labels in words.

The scoring rule is the published one. Where the engine gives log-probabilities of a prompt, a label's probability is
that of its word at the place where the completion would have it, against the other labels' words; elsewhere the label
that the model says has probability 1. The published code divides log-probabilities to decide on retrieval; here
probabilities are compared. Its optional term for the likelihood of the whole draft is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import dspy
import numpy as np
from scipy.special import softmax  # type: ignore[import-untyped]

from programs.methods.base import EvidenceProgram, QueryRun
from programs.methods.prompt_room import head
from programs.methods.segments import SegmentIndex, segment_index
from programs.methods.selfrag.settings import SelfragSettings
from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel
from programs.state import EvidenceRecord
from programs.tam.segment import Segment
from signatures.baselines.selfrag import DecideRetrieval, Reflection, ReflectOnPassage, Retrieval

Label = str | int
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
        settings = self.settings.of(SelfragSettings)
        able = self.runtime.auxiliary.engine.capabilities.prompt_logprobs
        self.retrieval = RetrievalDecision(measured=able and settings.measure != "nothing")
        self.reflection = Critic(settings, measured=able and settings.measure == "all")

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

    def __init__(self, measured: bool) -> None:
        super().__init__()
        self.decide = dspy.Predict(DecideRetrieval)
        self.measured = measured

    def forward(self, lm: LanguageModel, config: dict[str, Any], question: str) -> dspy.Prediction:
        """Compare the two labels where they can be measured, else ask for one."""
        if self.measured:
            prompt = completion_prompt(self.decide, question=question)
            return dspy.Prediction(probability=expected(lm, prompt, {}, "retrieve", RETRIEVE))
        said: Retrieval = self.decide(question=question, lm=lm, config=config).retrieval
        return dspy.Prediction(probability=RETRIEVE[said.retrieve])


class Critic(dspy.Module):  # type: ignore[misc]
    """ISREL, a draft, ISSUP and ISUSE of one passage, in one generation as in the original, and their score."""

    def __init__(self, settings: SelfragSettings, measured: bool) -> None:
        super().__init__()
        self.reflect = dspy.Predict(ReflectOnPassage)
        self.weights = (settings.relevance_weight, settings.support_weight, settings.utility_weight)
        self.measured = measured

    def forward(self, lm: LanguageModel, config: dict[str, Any], question: str, passage: str) -> dspy.Prediction:
        """Draft once, and weigh the labels: those that were said, or all of them at their places after the draft."""
        said: Reflection = self.reflect(question=question, passage=passage, lm=lm, config=config).reflection
        parts = (RELEVANT[said.relevant], SUPPORTED[said.supported], USEFUL[said.useful])
        if self.measured:
            prompt = completion_prompt(self.reflect, question=question, passage=passage)
            keys = said.model_dump()
            parts = (
                expected(lm, prompt, keys, "relevant", RELEVANT),
                expected(lm, prompt, keys, "supported", SUPPORTED),
                expected(lm, prompt, keys, "useful", USEFUL),
            )
        return dspy.Prediction(score=sum(weight * part for weight, part in zip(self.weights, parts, strict=True)))


def expected(lm: LanguageModel, prompt: str, keys: Mapping[str, Any], key: str, values: Values) -> float:
    """Give the value to be expected of a key's label, each label weighed by its probability at that place."""
    context = prompt + up_to(keys, key, quoted=all(isinstance(label, str) for label in values))
    probabilities = softmax([lm.likelihood(context, str(label)) for label in values])
    return float(probabilities @ np.array(list(values.values())))


def up_to(keys: Mapping[str, Any], key: str, quoted: bool) -> str:
    """Write a completion's JSON up to where the value of a key begins, with whatever keys come before it."""
    earlier = takewhile(lambda item: item[0] != key, keys.items())
    written = "".join(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}, " for name, value in earlier)
    return f"{{{written}{json.dumps(key)}: " + ('"' if quoted else "")


def completion_prompt(predictor: dspy.Predict, **inputs: str) -> str:
    """Write a predictor's prompt as one text that the completion follows."""
    messages = TemplateAdapter().format(predictor.signature, predictor.demos, inputs)
    return "\n\n".join(str(message["content"]) for message in messages) + "\n"
