"""The final reader G_φ: the query and the admitted evidence in, one short answer out. Shared by every method."""

from __future__ import annotations

from collections.abc import Sequence

import dspy
from dspy.utils.exceptions import AdapterParseError

from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from programs.roles.view import numbered
from programs.state import EvidenceRecord
from signatures.reader import AnswerQuestion

ROLE = "reader"


class Reader(dspy.Module):  # type: ignore[misc]
    """It is given neither the state nor the memory, so nothing of them can reach its prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(AnswerQuestion)

    def forward(
        self, question: str, evidence: Sequence[EvidenceRecord], lm: LanguageModel, ledger: Ledger, max_tokens: int
    ) -> dspy.Prediction:
        """Answer once. An empty completion is an empty answer, which scores 0; it is not asked again."""
        with ledger.scope(ROLE, Phase.READER):
            try:
                prediction = self.answer(
                    question=question,
                    evidence=numbered(list(evidence), provenance=False),
                    lm=lm,
                    config={"max_tokens": max_tokens},
                )
            except AdapterParseError:
                return dspy.Prediction(answer="")
        return dspy.Prediction(answer=prediction.answer)


class NoReader(dspy.Module):  # type: ignore[misc]
    """Stands where the reader stands and asks nobody, for runs that look at evidence alone."""

    def forward(self, **given: object) -> dspy.Prediction:
        """Give no answer."""
        return dspy.Prediction(answer="")


def open_reader(answer: bool) -> dspy.Module:
    """Give the shared reader, or the one that says nothing."""
    return Reader() if answer else NoReader()
