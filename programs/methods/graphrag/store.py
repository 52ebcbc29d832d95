"""The index on disk: one JSON file and two plain arrays. Texts of text units are the collection's own."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from programs.methods.graphrag.knowledge import Community, Entity, EntityGraph, KnowledgeIndex, Relationship
from programs.methods.indexes import read_parts, write_parts
from programs.methods.segments import CollectionCodec, addresses, located
from signatures.baselines.graphrag import CommunityReport


class KnowledgeCodec(CollectionCodec):
    """Writes and reads the index of one collection."""

    def save(self, index: KnowledgeIndex, folder: Path) -> None:
        """Write the graph with its reports, and the vectors of entities and text units."""
        body = {
            "units": addresses(index.units),
            "entities": [asdict(entity) for entity in index.graph.entities],
            "relationships": [asdict(relationship) for relationship in index.graph.relationships],
            "communities": [asdict(community) for community in index.communities],
            "reports": {number: report.model_dump(mode="json") for number, report in index.reports.items()},
        }
        write_parts(folder, body, entities=index.entity_vectors, units=index.unit_vectors)

    def load(self, folder: Path) -> KnowledgeIndex:
        """Read them again."""
        body, arrays = read_parts(folder)
        return KnowledgeIndex(
            units=located(body["units"], self.collection),
            graph=EntityGraph(
                tuple(Entity(**_tuples(row, "units")) for row in body["entities"]),
                tuple(Relationship(**_tuples(row, "units")) for row in body["relationships"]),
            ),
            communities=tuple(Community(**_tuples(row, "members")) for row in body["communities"]),
            reports={int(number): CommunityReport.model_validate(row) for number, row in body["reports"].items()},
            entity_vectors=arrays["entities"],
            unit_vectors=arrays["units"],
        )


def _tuples(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {**row, key: tuple(row[key])}
