"""What roles are asked where fields have no owner: the same tasks, with the other fields optional in each answer.

A role's own field is asked for as ever. Whatever else it names is a write to another's field, so here, and only here,
a proposal's members have a default.
"""

from typing import Annotated, Literal

import dspy
from pydantic import Field

from signatures.navigator import ScoreTraces, TraceScores
from signatures.planner import MAX_TARGETS, Plan, ProposePlan
from signatures.proposal import Sentence
from signatures.retriever import SelectEvidence, Selection
from signatures.verifier import Assessment, JudgeEvidence

AnyObjective = Annotated[Sentence | None, Field(description="optional: retrieval objective")]
AnyTargets = Annotated[
    tuple[Sentence, ...] | None, Field(max_length=MAX_TARGETS, description="optional: retrieval targets")
]
AnyPath = Annotated[tuple[tuple[int, ...], ...] | None, Field(description="optional: traces of node numbers")]
AnyEvidence = Annotated[tuple[Sentence, ...] | None, Field(description="optional: evidence identifiers")]
AnyVerdict = Annotated[Literal["PASS", "FAIL"] | None, Field(description="optional: PASS or FAIL")]
AnyJustification = Annotated[str | None, Field(max_length=600, description="optional: justification of the verdict")]


class UnownedPlan(Plan):
    """A plan, and whatever else the Planner gives."""

    path: AnyPath = None
    evidence: AnyEvidence = None
    verdict: AnyVerdict = None
    justification: AnyJustification = None


class UnownedScores(TraceScores):
    """Scores, and whatever else the Navigator gives. Its own field is what its tool finds by them."""

    objective: AnyObjective = None
    targets: AnyTargets = None
    evidence: AnyEvidence = None
    verdict: AnyVerdict = None
    justification: AnyJustification = None


class UnownedSelection(Selection):
    """A selection, and whatever else the Retriever gives."""

    objective: AnyObjective = None
    targets: AnyTargets = None
    path: AnyPath = None
    verdict: AnyVerdict = None
    justification: AnyJustification = None


class UnownedAssessment(Assessment):
    """A verdict, and whatever else the Verifier gives."""

    objective: AnyObjective = None
    targets: AnyTargets = None
    path: AnyPath = None
    evidence: AnyEvidence = None


class ProposePlanUnowned(ProposePlan):
    __doc__ = ProposePlan.instructions
    plan: UnownedPlan = dspy.OutputField()


class ScoreTracesUnowned(ScoreTraces):
    __doc__ = ScoreTraces.instructions
    graded: UnownedScores = dspy.OutputField()


class SelectEvidenceUnowned(SelectEvidence):
    __doc__ = SelectEvidence.instructions
    selection: UnownedSelection = dspy.OutputField()


class JudgeEvidenceUnowned(JudgeEvidence):
    __doc__ = JudgeEvidence.instructions
    assessment: UnownedAssessment = dspy.OutputField()
