"""The final reader, shared by every method: as the paper asks it, and in a form that names its records."""

import dspy
from pydantic import Field

from signatures.proposal import Proposal

LONGEST = 240
"""Characters of a cited answer: it is held to a schema, and a completion that is cut there could not be read."""
MOST_CITED = 4
"""Records that an answer may rest on, as many as a plan may have targets."""


class AnswerQuestion(dspy.Signature):  # type: ignore[misc]
    """Answer the question using only the evidence below. Return the shortest answer supported by the evidence and do not add an explanation. If the evidence is incomplete, return the best supported answer from the available evidence."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    evidence: str = dspy.InputField(desc="Evidence")
    answer: str = dspy.OutputField(desc="Answer")


class CitedAnswer(Proposal):
    """The records first and then the answer, so that what is written last follows from what was looked at."""

    records: tuple[int, ...] = Field(min_length=1, max_length=MOST_CITED, description="numbers of the records needed")
    answer: str = Field(max_length=LONGEST, description="shortest answer")


class AnswerFromRecords(dspy.Signature):  # type: ignore[misc]
    """Answer the question using only the evidence. Facts of several records may have to be joined or compared: first list the numbers of the records that the answer needs, then give the shortest answer, which must be of the kind that the question asks for."""  # noqa: E501

    evidence: str = dspy.InputField(desc="Evidence")
    question: str = dspy.InputField(desc="Question")
    reply: CitedAnswer = dspy.OutputField()
