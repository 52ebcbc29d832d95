"""The final reader G_φ: the query and the admitted evidence in, one short answer out. Shared by every method."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import dspy
from dspy.utils.exceptions import AdapterParseError

from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from programs.roles.view import grouped, regions_of
from programs.settings import LifecycleSettings
from programs.state import EvidenceRecord
from signatures.reader import AnswerFromRecords, AnswerQuestion

ROLE = "reader"


class Reader(dspy.Module):  # type: ignore[misc]
    """It is given neither the state nor the memory, so nothing of them can reach its prompt.

    It is called once. A completion that can't be read, or has nothing in it, is an empty answer, which scores 0; it is
    not asked again.
    """

    signature: type[dspy.Signature] = AnswerQuestion

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(self.signature)

    def forward(
        self, question: str, evidence: Sequence[EvidenceRecord], lm: LanguageModel, ledger: Ledger, max_tokens: int
    ) -> dspy.Prediction:
        """Answer, and name the evidence that the answer rests on where this reader says so."""
        with ledger.scope(ROLE, Phase.READER), suppress(AdapterParseError):
            return self.read(
                evidence,
                self.answer(question=question, evidence=grouped(evidence), lm=lm, config={"max_tokens": max_tokens}),
            )
        return dspy.Prediction(answer="", cited=())

    def read(self, evidence: Sequence[EvidenceRecord], said: dspy.Prediction) -> dspy.Prediction:
        """Take the answer as it was written."""
        return dspy.Prediction(answer=said.answer, cited=())


class CitingReader(Reader):
    """Names the records before it answers, by the numbers that it was shown. A number that none has says nothing."""

    signature = AnswerFromRecords

    def read(self, evidence: Sequence[EvidenceRecord], said: dspy.Prediction) -> dspy.Prediction:
        """Turn numbers into the ids of the evidence that stands under them."""
        regions = regions_of(evidence)
        shown = [regions[number - 1] for number in dict.fromkeys(said.reply.records) if 1 <= number <= len(regions)]
        cited = tuple(record.evidence_id for region in shown for record in region)
        return dspy.Prediction(answer=said.reply.answer.strip(), cited=cited)


class NoReader(dspy.Module):  # type: ignore[misc]
    """Stands where the reader stands and asks nobody, for runs that look at evidence alone."""

    def forward(self, **given: object) -> dspy.Prediction:
        """Give no answer."""
        return dspy.Prediction(answer="", cited=())


READERS: dict[str, type[Reader]] = {"paper": Reader, "cited": CitingReader}


def open_reader(settings: LifecycleSettings) -> dspy.Module:
    """Give the reader that the settings name, or the one that says nothing."""
    return READERS[settings.reader_form]() if settings.answer else NoReader()
