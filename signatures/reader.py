"""The final reader, shared by every method."""

import dspy


class AnswerQuestion(dspy.Signature):  # type: ignore[misc]
    """Answer the question using only the evidence below. Return the shortest answer supported by the evidence and do not add an explanation. If the evidence is incomplete, return the best supported answer from the available evidence."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    evidence: str = dspy.InputField(desc="Evidence")
    answer: str = dspy.OutputField(desc="Answer")
