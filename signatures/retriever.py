"""The Retriever: which candidates of the region to keep, best first."""

import dspy
from pydantic import Field

from signatures.proposal import Proposal


class Selection(Proposal):
    """Numbers of the candidates that were shown, in ranked order."""

    selected: tuple[int, ...] = Field(min_length=1, description="evidence identifiers in ranked order")


class SelectEvidence(dspy.Signature):  # type: ignore[misc]
    """You are the Retriever in a retrieval system. Rank the supplied candidate evidence by its relevance to the query and committed retrieval plan. Select only evidence that contributes information needed to satisfy the current objective.

    Use only the supplied candidate evidence. Preserve the evidence identifiers and source provenance. Do not introduce external information, assess final evidence sufficiency, or answer the query. Select no more than the stated evidence cap."""  # noqa: E501

    query: str = dspy.InputField(desc="Query")
    plan: str = dspy.InputField(desc="Committed plan")
    path: str = dspy.InputField(desc="Committed path")
    region: str = dspy.InputField(desc="Retrieval region")
    candidates: str = dspy.InputField(desc="Candidate evidence")
    cap: int = dspy.InputField(desc="Evidence cap")
    selection: Selection = dspy.OutputField()
