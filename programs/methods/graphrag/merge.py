"""Merging: mentions with the same title are one entity, and mentions of the same pair are one relationship."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from signatures.baselines.graphrag import FoundEntity, FoundGraph, FoundRelationship

QUOTES = "\"'“”‘’«»"


@dataclass
class EntityMentions:
    """What text units said of one title."""

    title: str
    types: Counter[str] = field(default_factory=Counter)
    descriptions: dict[str, None] = field(default_factory=dict)
    units: dict[int, None] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """The type given most often, the first of several."""
        return self.types.most_common(1)[0][0]


@dataclass
class RelationshipMentions:
    """What text units said of one pair of titles, in the direction of the first mention."""

    source: str
    target: str
    weight: float = 0.0
    descriptions: dict[str, None] = field(default_factory=dict)
    units: dict[int, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Merged:
    """All mentions, in the order in which text units first have them."""

    entities: tuple[EntityMentions, ...]
    relationships: tuple[RelationshipMentions, ...]


def merge(found: Sequence[Sequence[FoundGraph]]) -> Merged:
    """Merge what was found, unit by unit. Relationships of names that nobody listed as entities are dropped.

    Both directions of a pair are one relationship, as its communities see it; its weight is the sum of strengths.
    """
    entities: dict[str, EntityMentions] = {}
    for unit, name, entity in _entities(found):
        mentions = entities.setdefault(name, EntityMentions(name))
        mentions.types[entity.type.strip().lower()] += 1
        _note(mentions, entity.description, unit)
    pairs: dict[frozenset[str], RelationshipMentions] = {}
    for unit, source, target, relationship in _relationships(found):
        if source in entities and target in entities and source != target:
            pair = pairs.setdefault(frozenset((source, target)), RelationshipMentions(source, target))
            pair.weight += relationship.strength
            _note(pair, relationship.description, unit)
    return Merged(tuple(entities.values()), tuple(pairs.values()))


def title(name: str) -> str:
    """Give the form by which names are compared: upper case, single spaces, no quotation marks around it."""
    return " ".join(name.split()).strip(QUOTES).strip().upper()


def _entities(found: Sequence[Sequence[FoundGraph]]) -> Iterator[tuple[int, str, FoundEntity]]:
    for unit, graphs in enumerate(found):
        for graph in graphs:
            for entity in graph.entities:
                if name := title(entity.name):
                    yield unit, name, entity


def _relationships(found: Sequence[Sequence[FoundGraph]]) -> Iterator[tuple[int, str, str, FoundRelationship]]:
    for unit, graphs in enumerate(found):
        for graph in graphs:
            for pair in graph.relationships:
                yield unit, title(pair.source), title(pair.target), pair


def _note(mentions: EntityMentions | RelationshipMentions, description: str, unit: int) -> None:
    if text := " ".join(description.split()):
        mentions.descriptions.setdefault(text)
    mentions.units.setdefault(unit)
