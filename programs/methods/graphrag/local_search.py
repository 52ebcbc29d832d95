"""Local search: from the entities nearest to a question to reports, statements and text units around them.

The order is that of the original's context: reports, entities, relationships, sources. So are the shares, here of
the reader's budget. The original leaves out whatever does not fit its share whole; its context is 12,000 tokens, and
in a share of ours not even one report may fit, so the report or text unit that crosses the end of its share is cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from programs.admission import select_budget
from programs.methods.graphrag.knowledge import KnowledgeIndex
from programs.methods.graphrag.settings import GraphragSettings
from programs.models.encoders.encoder import Encoder
from programs.state import EvidenceRecord


def local_search(
    question: str, index: KnowledgeIndex, encoder: Encoder, settings: GraphragSettings, budget: int
) -> list[EvidenceRecord]:
    """Give the evidence around the entities nearest to a question, each kind within its share of the budget."""
    entities = nearest_entities(question, index, encoder, settings.top_entities * settings.oversample)
    for_units, for_reports = int(budget * settings.text_unit_share), int(budget * settings.community_share)
    reports = [index.report_record(number) for number in ranked_reports(entities, index, settings.community_level)]
    sources = [index.units[unit].record() for unit in ranked_units(entities, index)]
    evidence = [
        *select_budget(reports, for_reports, encoder),
        *statements(entities, index, encoder, settings, budget - for_units - for_reports),
        *select_budget(sources, for_units, encoder),
    ]
    return evidence or sources  # a budget of a few tokens has no share that holds anything


def nearest_entities(question: str, index: KnowledgeIndex, encoder: Encoder, most: int) -> list[int]:
    """Give the entities whose titles and descriptions are most similar to a question, ties in order of the text."""
    similarity = index.entity_vectors @ encoder.encode_queries([question])[0]
    return [int(entity) for entity in np.argsort(-similarity, kind="stable")[:most]]


def ranked_reports(entities: Sequence[int], index: KnowledgeIndex, level: int) -> list[int]:
    """Give the reported communities of entities, those with the most of them first, then the highest rated."""
    homes = index.homes(level)
    matches = Counter(homes[entity] for entity in entities if homes.get(entity) in index.reports)
    return sorted(matches, key=lambda number: (-matches[number], -index.reports[number].rating, number))


def ranked_units(entities: Sequence[int], index: KnowledgeIndex) -> list[int]:
    """Give the text units of entities in the entities' order; of one entity, first those that relate it most."""
    ranked: dict[int, None] = {}
    for entity in entities:
        related = Counter(unit for number in index.graph.of[entity] for unit in index.graph.relationships[number].units)
        ranked |= dict.fromkeys(sorted(index.graph.entities[entity].units, key=lambda unit: (-related[unit], unit)))
    return list(ranked)


def statements(
    entities: Sequence[int], index: KnowledgeIndex, encoder: Encoder, settings: GraphragSettings, budget: int
) -> list[EvidenceRecord]:
    """Give entities, then relationships. Entities leave room for relationships and get back what these don't use."""
    about = [index.entity_record(entity) for entity in entities]
    room = budget - tokens(fitting(about, int(budget * settings.entity_share), encoder), encoder)
    joining: list[EvidenceRecord] = []
    for count in range(1, len(entities) + 1):
        ranked = ranked_relationships(entities[:count], index, settings.top_relationships)
        joining = [index.relationship_record(number) for number in ranked]
        if tokens(joining, encoder) > room:
            break
    joining = fitting(joining, room, encoder)
    return [*fitting(about, budget - tokens(joining, encoder), encoder), *joining]


def ranked_relationships(entities: Sequence[int], index: KnowledgeIndex, top: int) -> list[int]:
    """Give the relationships between the entities, then the best of those to other entities.

    An outside entity that several of the chosen are related to comes first, then relationships of the highest rank.
    """
    graph, chosen = index.graph, set(entities)
    within = graph.inside(chosen)
    beyond = sorted({number for entity in entities for number in graph.of[entity]} - set(within))
    outside = {
        number: pair.target if pair.source in chosen else pair.source
        for number in beyond
        for pair in (graph.relationships[number],)
    }
    links = Counter(outside.values())
    beyond.sort(key=lambda number: (-links[outside[number]], -graph.rank(number), number))
    return [*within, *beyond[: top * len(entities)]]


def fitting(records: Iterable[EvidenceRecord], budget: int, encoder: Encoder) -> list[EvidenceRecord]:
    """Take whole records up to the first that does not fit."""
    kept: list[EvidenceRecord] = []
    for record in records:
        budget -= len(encoder.spans(record.text))
        if budget < 0:
            break
        kept.append(record)
    return kept


def tokens(records: Iterable[EvidenceRecord], encoder: Encoder) -> int:
    """Count what records cost the reader."""
    return sum(len(encoder.spans(record.text)) for record in records)
