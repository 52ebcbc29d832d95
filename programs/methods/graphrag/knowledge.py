"""The index: text units, the entities and relationships found in them, communities of entities, and their reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from programs.content_key import content_key
from programs.methods.segments import derived_record
from programs.models.encoders.encoder import Vectors
from programs.state import EvidenceRecord
from programs.tam.segment import Segment
from signatures.baselines.graphrag import CommunityReport


@dataclass(frozen=True, slots=True)
class Entity:
    """Everything that the text units say of one title."""

    title: str
    type: str
    description: str
    units: tuple[int, ...]

    @property
    def text(self) -> str:
        """The entity as a prompt or the reader sees it."""
        return f"{self.title} ({self.type}): {self.description}"


@dataclass(frozen=True, slots=True)
class Relationship:
    """What joins two entities, given by their places among the entities."""

    source: int
    target: int
    description: str
    weight: float
    units: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that belong together. A community's number is its place among the communities, parents first."""

    level: int
    parent: int | None
    members: tuple[int, ...]


@dataclass(frozen=True)
class EntityGraph:
    """Entities and relationships."""

    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]

    @cached_property
    def of(self) -> tuple[tuple[int, ...], ...]:
        """The relationships of each entity, in order."""
        found: list[list[int]] = [[] for _ in self.entities]
        for number, relationship in enumerate(self.relationships):
            found[relationship.source].append(number)
            found[relationship.target].append(number)
        return tuple(tuple(numbers) for numbers in found)

    def rank(self, relationship: int) -> int:
        """Give the combined degree of its two ends, by which relationships are ordered."""
        ends = self.relationships[relationship]
        return len(self.of[ends.source]) + len(self.of[ends.target])

    def inside(self, members: Iterable[int]) -> list[int]:
        """Give the relationships between members, of the highest rank first."""
        among = set(members)
        numbers = {
            number
            for member in among
            for number in self.of[member]
            if {self.relationships[number].source, self.relationships[number].target} <= among
        }
        return sorted(numbers, key=lambda number: (-self.rank(number), number))

    def statement(self, relationship: int) -> str:
        """Say a relationship with the titles of its ends."""
        it = self.relationships[relationship]
        return f"{self.entities[it.source].title} – {self.entities[it.target].title}: {it.description}"


@dataclass(frozen=True)
class KnowledgeIndex:
    """What both searches look in."""

    units: tuple[Segment, ...]
    graph: EntityGraph
    communities: tuple[Community, ...]
    reports: Mapping[int, CommunityReport]
    entity_vectors: Vectors
    unit_vectors: Vectors
    """Of text units only where no entity was found, since nothing else looks for text units by themselves."""

    def homes(self, level: int) -> dict[int, int]:
        """Give the deepest community of each entity that is no deeper than a level."""
        homes: dict[int, int] = {}
        for number, community in enumerate(self.communities):
            if community.level <= level:
                homes |= dict.fromkeys(community.members, number)
        return homes

    def entity_record(self, entity: int) -> EvidenceRecord:
        """Give an entity as evidence."""
        it = self.graph.entities[entity]
        return self.derived("statement", it.text, it.units)

    def relationship_record(self, relationship: int) -> EvidenceRecord:
        """Give a relationship as evidence."""
        return self.derived(
            "statement", self.graph.statement(relationship), self.graph.relationships[relationship].units
        )

    def report_record(self, community: int) -> EvidenceRecord:
        """Give a community's report as evidence."""
        return self.derived("report", self.reports[community].text, self.community_units(community))

    def community_units(self, community: int) -> set[int]:
        """Give the text units that a community's entities and the relationships between them were found in."""
        members = self.communities[community].members
        units = {unit for member in members for unit in self.graph.entities[member].units}
        return units.union(*(self.graph.relationships[number].units for number in self.graph.inside(members)))

    def derived(self, kind: str, text: str, units: Iterable[int]) -> EvidenceRecord:
        """Give a text that a model made from these text units as evidence."""
        return derived_record(kind, text, [self.units[unit] for unit in sorted(units)], content_key(text))
