"""Self-RAG's reflections as labels in words, since a stock model has no reflection tokens."""

from typing import Annotated, Literal

import dspy
from pydantic import Field, StringConstraints

from signatures.proposal import Proposal

Draft = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)]


class Retrieval(Proposal):
    """Retrieve: whether passages are wanted."""

    retrieve: Literal["yes", "no"] = Field(description="yes or no")


class Reflection(Proposal):
    """What one generation of the original holds, in its order: ISREL, the draft, ISSUP, ISUSE."""

    relevant: Literal["yes", "no"] = Field(description="yes or no: the passage helps to answer the question")
    answer: Draft = Field(description="short draft answer from the passage")
    supported: Literal["full", "partial", "none"] = Field(
        description="full, partial or none: how far the passage supports the draft"
    )
    useful: Literal[1, 2, 3, 4, 5] = Field(description="1 to 5: how well the draft answers the question")


class DecideRetrieval(dspy.Signature):  # type: ignore[misc]
    """Decide whether passages should be retrieved from the documents before the question is answered. Say yes when the answer depends on facts about particular people, places, works, events or texts, and no when it needs no such facts."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    retrieval: Retrieval = dspy.OutputField()


class ReflectOnPassage(dspy.Signature):  # type: ignore[misc]
    """Judge one passage for a question. A passage that gives only one of several facts that the question needs is relevant. Draft a short answer from the passage alone, then judge your draft: how far the passage supports it, and how well it answers the question."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    passage: str = dspy.InputField(desc="Passage")
    reflection: Reflection = dspy.OutputField()
