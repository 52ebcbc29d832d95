"""The Planner: what to look for now."""

import dspy
from pydantic import Field

from signatures.proposal import Proposal, Sentence

MAX_TARGETS = 4
"""The most hops of a question in the paper's workloads; more targets than that only thin the search budget."""


class Plan(Proposal):
    """The plan field p: a retrieval objective and its ordered information targets."""

    objective: Sentence = Field(description="current retrieval objective")
    targets: tuple[Sentence, ...] = Field(min_length=1, max_length=MAX_TARGETS, description="ordered retrieval targets")

    @property
    def text(self) -> str:
        """The plan in one line, as scorers and prompts read it."""
        return f"{self.objective} Targets: {'; '.join(self.targets)}"


class ProposePlan(dspy.Signature):  # type: ignore[misc]
    """You are the Planner in a retrieval system. Define the current retrieval objective and the information targets needed to answer the query. Use the current state and any available reusable artifacts as context.

    When revision context is present, update the plan to address the evidence identified as missing by the Verifier. Do not select evidence, assess evidence sufficiency, answer the query, or choose a controller action."""  # noqa: E501

    query: str = dspy.InputField(desc="Query")
    state: str = dspy.InputField(desc="Current retrieval state")
    artifacts: str = dspy.InputField(desc="Available artifact identifiers")
    revision: str = dspy.InputField(desc="Revision context")
    plan: Plan = dspy.OutputField()
