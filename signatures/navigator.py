"""The Navigator: how promising each candidate trace is."""

import dspy
from pydantic import Field

from signatures.proposal import Proposal


class TraceScore(Proposal):
    """One candidate's grade. NaN and infinity are outside the interval and so malformed."""

    trace_id: int = Field(ge=1, description="identifier")
    score: float = Field(ge=0.0, le=1.0, allow_inf_nan=False, description="score")


class TraceScores(Proposal):
    """A grade for each supplied candidate, in any order."""

    scores: tuple[TraceScore, ...] = Field(min_length=1, description="trace_id and score of each candidate")


class ScoreTraces(dspy.Signature):  # type: ignore[misc]
    """You score candidate traversal traces in a typed retrieval hierarchy. Assess how well the terminal abstraction of each trace supports the retrieval objective expressed by the query and committed plan.

    Assign one score between 0 and 1 to every supplied candidate. A higher score indicates that continuing along the trace is more likely to reach evidence needed for the query. Use only the supplied traces. Do not create node identifiers, alter the node order, retrieve evidence, or answer the query."""  # noqa: E501

    query: str = dspy.InputField(desc="Query")
    plan: str = dspy.InputField(desc="Committed plan")
    traces: str = dspy.InputField(desc="Candidate traces")
    graded: TraceScores = dspy.OutputField()
