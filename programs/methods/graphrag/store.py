"""The index on disk: one JSON file and two plain arrays. Texts of text units are the collection's own."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from programs.documents.collection import Collection
from programs.methods.graphrag.knowledge import Community, Entity, EntityGraph, KnowledgeIndex, Relationship
from programs.methods.segments import addresses, located
from signatures.baselines.graphrag import CommunityReport


@dataclass(frozen=True)
class KnowledgeCodec:
    """Writes and reads the index of one collection."""

    collection: Collection

    def save(self, index: KnowledgeIndex, folder: Path) -> None:
        """Write graph.json, entities.npy and units.npy."""
        body = {
            "units": addresses(index.units),
            "entities": [asdict(entity) for entity in index.graph.entities],
            "relationships": [asdict(relationship) for relationship in index.graph.relationships],
            "communities": [asdict(community) for community in index.communities],
            "reports": {number: report.model_dump(mode="json") for number, report in index.reports.items()},
        }
        (folder / "graph.json").write_text(json.dumps(body), encoding="utf-8")
        np.save(folder / "entities.npy", index.entity_vectors, allow_pickle=False)
        np.save(folder / "units.npy", index.unit_vectors, allow_pickle=False)

    def load(self, folder: Path) -> KnowledgeIndex:
        """Read them again."""
        body = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
        return KnowledgeIndex(
            units=located(body["units"], self.collection),
            graph=EntityGraph(
                tuple(Entity(**_tuples(row, "units")) for row in body["entities"]),
                tuple(Relationship(**_tuples(row, "units")) for row in body["relationships"]),
            ),
            communities=tuple(Community(**_tuples(row, "members")) for row in body["communities"]),
            reports={int(number): CommunityReport.model_validate(row) for number, row in body["reports"].items()},
            entity_vectors=np.load(folder / "entities.npy", allow_pickle=False),
            unit_vectors=np.load(folder / "units.npy", allow_pickle=False),
        )


def _tuples(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {**row, key: tuple(row[key])}
