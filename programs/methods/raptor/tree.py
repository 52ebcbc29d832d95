"""The tree: leaves, layers of summaries over them, and one vector a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from programs.content_key import content_key
from programs.methods.indexes import read_parts, write_parts
from programs.methods.raptor.settings import RaptorSettings
from programs.methods.segments import CollectionCodec, addresses, derived_record, located
from programs.models.encoders.encoder import Encoder, Vectors
from programs.state import EvidenceRecord
from programs.tam.segment import Segment

KIND = "summary"
Summarise = Callable[[Sequence[Sequence[str]]], Sequence[str | None]]
"""Takes the texts of each cluster; gives a summary of each, None where there is none to be had."""


@dataclass(frozen=True)
class Summary:
    """A node above the leaves."""

    text: str
    layer: int
    children: tuple[int, ...]


@dataclass(frozen=True)
class Tree:
    """Nodes are numbered: the leaves in source order, then the summaries, lower layers first."""

    leaves: tuple[Segment, ...]
    summaries: tuple[Summary, ...]
    vectors: Vectors

    def text(self, node: int) -> str:
        """Give a node's text."""
        leaves = len(self.leaves)
        return self.leaves[node].text if node < leaves else self.summaries[node - leaves].text

    def below(self, node: int) -> list[int]:
        """Give the leaves that a node stands on, in source order; a leaf stands on itself."""
        if node < len(self.leaves):
            return [node]
        children = self.summaries[node - len(self.leaves)].children
        return sorted({leaf for child in children for leaf in self.below(child)})

    def record(self, node: int) -> EvidenceRecord:
        """Give a node as evidence. A summary names every leaf below it."""
        if node < len(self.leaves):
            return self.leaves[node].record()
        segments = [self.leaves[leaf] for leaf in self.below(node)]
        key = content_key(self.text(node), *(segment.evidence_id for segment in segments))
        return derived_record(KIND, self.text(node), segments, key)


def grow(
    leaves: Sequence[Segment], encoder: Encoder, settings: RaptorSettings, limit: int, summarise: Summarise
) -> Tree:
    """Cluster and summarise layer on layer, until one is small enough. A cluster that got no summary has no parent."""
    tree = Tree(tuple(leaves), (), encoder.encode_passages([leaf.text for leaf in leaves]))
    layer = range(len(leaves))
    for number in range(1, settings.layers + 1):
        if len(layer) <= settings.dimension + 1:
            break
        clusters = _clusters(tree, layer, encoder, settings, limit)
        texts = summarise([[tree.text(node) for node in cluster] for cluster in clusters])
        new = [Summary(t, number, nodes) for t, nodes in zip(texts, clusters, strict=True) if t]
        if not new:
            break
        vectors = np.concatenate([tree.vectors, encoder.encode_passages([summary.text for summary in new])])
        tree = Tree(tree.leaves, (*tree.summaries, *new), vectors)
        layer = range(len(vectors) - len(new), len(vectors))
    return tree


def _clusters(
    tree: Tree, layer: range, encoder: Encoder, settings: RaptorSettings, limit: int
) -> list[tuple[int, ...]]:
    """Cluster the nodes of a layer. The libraries for it are loaded by the first collection that needs them."""
    from programs.methods.raptor.cluster import cluster_layer

    tokens = np.array([len(encoder.spans(tree.text(node))) for node in layer])
    found = cluster_layer(tree.vectors[layer.start : layer.stop], tokens, settings, limit)
    return [tuple(layer[member] for member in cluster) for cluster in found]


class TreeCodec(CollectionCodec):
    """Addresses and summaries as JSON, vectors as a plain array; the leaves' texts are the collection's own."""

    def save(self, index: Tree, folder: Path) -> None:
        """Write the leaves' addresses, the summaries and the vectors."""
        body = {
            "leaves": addresses(index.leaves),
            "summaries": [[summary.text, summary.layer, summary.children] for summary in index.summaries],
        }
        write_parts(folder, body, vectors=index.vectors)

    def load(self, folder: Path) -> Tree:
        """Read them again."""
        body, arrays = read_parts(folder)
        summaries = tuple(Summary(text, layer, tuple(children)) for text, layer, children in body["summaries"])
        return Tree(located(body["leaves"], self.collection), summaries, arrays["vectors"])
