"""A graph that arranges nothing: the path field is kept and judged as ever, and says no more than which regions."""

from __future__ import annotations

import numpy as np

from programs.documents.collection import Collection
from programs.models.encoders.encoder import Encoder
from programs.settings import TamSettings
from programs.state import NodeType
from programs.tam.build import regions_of
from programs.tam.graph import GraphParts, TypedGraph


def flat_graph(collection: Collection, encoder: Encoder, tam: TamSettings) -> TypedGraph:
    """Put all Evidence below one Relation, that below one Topic, and leave every region by itself: ρ(v) = (v).

    Regions are cut as for StateRAG. The two nodes between have no text, and no model is asked for one. The graph's own
    settings say that one Relation may hold all, and that a region has one node.
    """
    regions = regions_of(collection, encoder, tam)
    texts = [region.text for region in regions]
    leaves = np.asarray(encoder.encode_passages(texts), np.float32)
    nothing = np.zeros((1, leaves.shape[1]), np.float32)
    evidence = range(1, len(regions) + 1)
    relation, topic = evidence.stop, evidence.stop + 1
    graph = TypedGraph(
        GraphParts(
            regions=tuple(regions),
            types=(NodeType.ROOT, *(NodeType.EVIDENCE for _ in evidence), NodeType.RELATION, NodeType.TOPIC),
            texts=("", *texts, "", ""),
            vectors=np.concatenate([nothing, leaves, nothing, nothing]),
            edges=((TypedGraph.root, topic), (topic, relation), *((relation, node) for node in evidence)),
            rho=tuple((node,) for node in evidence),
            tam=tam.model_copy(update={"relation_members": max(2, len(regions)), "region_size": 1}),
        )
    )
    graph.check()
    return graph
