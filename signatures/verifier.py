"""The Verifier: whether the evidence suffices, and if not, what is missing."""

from typing import Literal

import dspy
from pydantic import Field

from signatures.proposal import Proposal


class Assessment(Proposal):
    """The verdict and its justification. A FAIL without a justification is for the contract to reject."""

    verdict: Literal["PASS", "FAIL"] = Field(description="PASS or FAIL")
    justification: str = Field(max_length=600, description="brief evidence assessment or missing information")


class JudgeEvidence(dspy.Signature):  # type: ignore[misc]
    """You are the Verifier in a retrieval system. Determine whether the supplied evidence is sufficient to answer the query.

    Return PASS only when the evidence contains the information needed to produce a supported answer. Return FAIL when a required fact, relation, comparison, or supporting step is missing. For FAIL, identify the missing information that the next retrieval cycle should seek.

    Judge evidence sufficiency only. Do not answer the query and do not select RELEASE, REVISE, FALLBACK, or BYPASS."""  # noqa: E501

    query: str = dspy.InputField(desc="Query")
    evidence: str = dspy.InputField(desc="Committed evidence")
    assessment: Assessment = dspy.OutputField()
