"""GraphRAG: what is in a text, what was missed, what descriptions say together, what a community is about.

Outputs are JSON held to a schema, where the original marks records with delimiters: a small model keeps to a schema
and not to a format of its own. Lists and texts are bounded so that completions in most scripts end within their limits.
"""

from typing import Annotated

import dspy
from pydantic import Field, StringConstraints

from signatures.proposal import Proposal, Sentence

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Fact = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
Paragraph = Annotated[str, StringConstraints(strip_whitespace=True, max_length=400)]


class FoundEntity(Proposal):
    """An entity as one text unit speaks of it."""

    name: Name = Field(description="name")
    type: Name = Field(description="type")
    description: Fact = Field(description="description")


class FoundRelationship(Proposal):
    """How one text unit relates two entities."""

    source: Name = Field(description="entity")
    target: Name = Field(description="other entity")
    description: Fact = Field(description="description")
    strength: int = Field(ge=1, le=10, description="strength")


class FoundGraph(Proposal):
    """What one call found in a text unit."""

    entities: tuple[FoundEntity, ...] = Field(
        max_length=16, description="name, type and description of each entity, once"
    )
    relationships: tuple[FoundRelationship, ...] = Field(
        max_length=16, description="source, target, description and strength from 1 to 10 of each related pair, once"
    )


class ExtractGraph(dspy.Signature):  # type: ignore[misc]
    """You find entities and relationships in a text. List every entity of the given types that the text names, also those named only in passing, each with a short sentence of what the text says of it. Then list every pair of these entities that the text relates, with a short sentence that says how. Write names as the text does, keep dates, places and numbers, and use only the text."""  # noqa: E501

    types: str = dspy.InputField(desc="Entity types")
    text: str = dspy.InputField(desc="Text")
    graph: FoundGraph = dspy.OutputField()


class FindMissed(ExtractGraph):
    """You complete a list of entities and relationships found in a text. Some were missed. List only entities of the given types that the text names and the list lacks, and only related pairs that the list lacks, each with a short sentence of what the text says. Use only the text; where nothing was missed, give empty lists."""  # noqa: E501

    found: str = dspy.InputField(desc="Already found")


class SummariseDescriptions(dspy.Signature):  # type: ignore[misc]
    """You combine several descriptions of the same entity or relationship into one. Keep every fact of them, name what is described, write in the third person, and where descriptions contradict each other give one coherent account. Use only the descriptions."""  # noqa: E501

    subject: str = dspy.InputField(desc="Subject")
    descriptions: str = dspy.InputField(desc="Descriptions")
    summary: str = dspy.OutputField(desc="COMBINED DESCRIPTION")


class Finding(Proposal):
    """One insight of a report."""

    summary: Fact = Field(description="insight")
    explanation: Paragraph = Field(description="explanation")


class CommunityReport(Proposal):
    """What a community of entities is about. The original also has its rating explained, and reads that nowhere."""

    title: Fact = Field(description="short title that names the most important entities")
    summary: Sentence = Field(description="what joins the entities, in two or three sentences")
    findings: tuple[Finding, ...] = Field(
        max_length=10, description="up to 10 facts, each with a summary of a few words and an explanation of a sentence"
    )
    rating: int = Field(ge=0, le=10, description="importance of the community from 0 to 10")

    @property
    def text(self) -> str:
        """The report as a prompt or the reader sees it."""
        findings = (f"{finding.summary} {finding.explanation}" for finding in self.findings)
        return "\n".join([self.title, self.summary, *findings])


class WriteReport(dspy.Signature):  # type: ignore[misc]
    """You write a report on entities that belong together. State the most important facts about them and how they are related, each fact once, in short sentences with names, dates and numbers. Write about the entities, not about the report, and use only what is listed."""  # noqa: E501

    community: str = dspy.InputField(desc="Entities and relationships")
    report: CommunityReport = dspy.OutputField()


class KeyPoint(Proposal):
    """Something that reports say towards an answer."""

    description: Paragraph = Field(description="point")
    score: int = Field(ge=0, le=100, description="score")
    reports: tuple[int, ...] = Field(max_length=5, description="report numbers")


class KeyPoints(Proposal):
    """What a batch of reports says towards an answer."""

    points: tuple[KeyPoint, ...] = Field(
        max_length=8,
        description="description of each point, its score from 0 to 100, and the numbers of the reports that say it",
    )


class RatePoints(dspy.Signature):  # type: ignore[misc]
    """You look in reports for points that help to answer a question. A point is a fact that a report states, repeated with its names, dates and numbers. Give each point a score for how much it helps: 100 answers the question, 0 is no help. Where no report helps, give an empty list."""  # noqa: E501

    question: str = dspy.InputField(desc="Question")
    reports: str = dspy.InputField(desc="Reports")
    found: KeyPoints = dspy.OutputField()
