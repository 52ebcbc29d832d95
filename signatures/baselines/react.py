"""ReAct: the next thought and action."""

from typing import Annotated, Literal

import dspy
from pydantic import Field, StringConstraints

from signatures.proposal import Proposal

Thought = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Argument = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]


class Step(Proposal):
    """One step. Its lengths leave room for the whole JSON within the tokens of a step."""

    thought: Thought = Field(description="what the last observation tells and what is still missing")
    action: Literal["search", "lookup", "finish"] = Field(description="search, lookup or finish")
    argument: Argument = Field(description="the phrase to search, the keyword to look up, or the answer")


class TakeStep(dspy.Signature):  # type: ignore[misc]
    """Find the answer to a question in a collection of documents, one step at a time. A step is a thought and one action.

    search finds passages about its argument, a short phrase such as a name. lookup shows the next sentence that contains its argument, one keyword, in the passages of the last search. finish ends with the answer as its argument.

    Read the steps so far, say what the last observation tells, and then act on what is still missing: never search for the same phrase twice, and search for each thing that the question names. When nothing is missing, finish."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    trajectory: str = dspy.InputField(desc="Steps so far")
    step: Step = dspy.OutputField()
