"""HippoRAG 2: the two extractions that make its graph, and the recognition memory that filters facts."""

from typing import Annotated

import dspy
from pydantic import Field, StringConstraints

from signatures.proposal import Proposal

MOST_ENTITIES = 32
MOST_TRIPLES = 24
"""A small model that repeats itself is stopped here with a readable answer, not at the token limit with none."""
MOST_FACTS = 20
"""Facts that can be shown to the recognition memory, and so kept by it."""

Name = Annotated[str, StringConstraints(max_length=120)]
Triple = Annotated[tuple[Name, ...], Field(min_length=3, max_length=3)]
"""Subject, relation, object: an array of three, since an object would repeat its keys in every triple."""


class Entities(Proposal):
    """The named entities of a passage."""

    named_entities: tuple[Name, ...] = Field(max_length=MOST_ENTITIES, description="list of names")


class Triples(Proposal):
    """What a passage says, as open relations."""

    triples: tuple[Triple, ...] = Field(max_length=MOST_TRIPLES, description="list of [subject, relation, object]")


class RelevantFacts(Proposal):
    """Numbers of the facts that were shown, so that an answer can't be a fact that was not."""

    relevant: tuple[int, ...] = Field(max_length=MOST_FACTS, description="numbers of the helpful facts, or empty")


class FindEntities(dspy.Signature):  # type: ignore[misc]
    """List the named entities in the passage: people, places, organisations, works, events, dates and other names. Write each one once, as the passage writes it."""  # noqa: E501

    passage: str = dspy.InputField(desc="Passage")
    found: Entities = dspy.OutputField()


class FindTriples(dspy.Signature):  # type: ignore[misc]
    """Write what the passage says as triples of subject, relation and object, each triple once. Each names at least one, preferably two, of the listed entities. Write a name in place of every pronoun, and keep each part short. Use only what the passage says."""  # noqa: E501

    passage: str = dspy.InputField(desc="Passage")
    entities: str = dspy.InputField(desc="Named entities")
    found: Triples = dspy.OutputField()


class RecogniseFacts(dspy.Signature):  # type: ignore[misc]
    """Choose the numbered facts that help to answer the question, directly or as a step on the way to the answer. Leave out facts about something else. If no fact helps, choose none."""  # noqa: E501

    facts: str = dspy.InputField(desc="Facts")
    question: str = dspy.InputField(desc="Question")
    kept: RelevantFacts = dspy.OutputField()
