"""What roles are asked where one shared text carries the state: the same instructions, and an answer in words.

Of the inputs, the query and what tools supply remain; the fields of the state give way to the trajectory.
"""

import dspy

from signatures.navigator import ScoreTraces
from signatures.planner import ProposePlan
from signatures.retriever import SelectEvidence
from signatures.verifier import JudgeEvidence


class ProposePlanInWords(dspy.Signature):  # type: ignore[misc]
    __doc__ = ProposePlan.instructions
    query: str = dspy.InputField(desc="Query")
    trajectory: str = dspy.InputField(desc="Shared trajectory")
    artifacts: str = dspy.InputField(desc="Available artifact identifiers")
    words: str = dspy.OutputField(desc="Response")


class ScoreTracesInWords(dspy.Signature):  # type: ignore[misc]
    __doc__ = ScoreTraces.instructions
    query: str = dspy.InputField(desc="Query")
    trajectory: str = dspy.InputField(desc="Shared trajectory")
    traces: str = dspy.InputField(desc="Candidate traces")
    words: str = dspy.OutputField(desc="Response")


class SelectEvidenceInWords(dspy.Signature):  # type: ignore[misc]
    __doc__ = SelectEvidence.instructions
    query: str = dspy.InputField(desc="Query")
    trajectory: str = dspy.InputField(desc="Shared trajectory")
    candidates: str = dspy.InputField(desc="Candidate evidence")
    cap: int = dspy.InputField(desc="Evidence cap")
    words: str = dspy.OutputField(desc="Response")


class JudgeEvidenceInWords(dspy.Signature):  # type: ignore[misc]
    __doc__ = JudgeEvidence.instructions
    query: str = dspy.InputField(desc="Query")
    trajectory: str = dspy.InputField(desc="Shared trajectory")
    words: str = dspy.OutputField(desc="Response")
