"""What roles are asked where one shared text carries the state: the same instructions, and an answer in words.

Of the inputs, the query and what tools supply remain; the fields of the state give way to the trajectory.
"""

import dspy

from signatures.navigator import ScoreTraces
from signatures.planner import ProposePlan
from signatures.retriever import SelectEvidence
from signatures.verifier import JudgeEvidence


class InWords(dspy.Signature):  # type: ignore[misc]
    """What every role is shown, and that it answers in words. Inputs of a role's own follow these."""

    query: str = dspy.InputField(desc="Query")
    trajectory: str = dspy.InputField(desc="Shared trajectory")
    words: str = dspy.OutputField(desc="Response")


class ProposePlanInWords(InWords):
    __doc__ = ProposePlan.instructions
    artifacts: str = dspy.InputField(desc="Available artifact identifiers")


class ScoreTracesInWords(InWords):
    __doc__ = ScoreTraces.instructions
    traces: str = dspy.InputField(desc="Candidate traces")


class SelectEvidenceInWords(InWords):
    __doc__ = SelectEvidence.instructions
    candidates: str = dspy.InputField(desc="Candidate evidence")
    cap: int = dspy.InputField(desc="Evidence cap")


class JudgeEvidenceInWords(InWords):
    __doc__ = JudgeEvidence.instructions
