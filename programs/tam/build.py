"""TAM construction (Algorithm 1): Segment, CosineGroups into Relations, CosineGroups into Topics, one root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

import numpy as np

from programs.documents.collection import Collection
from programs.errors import InputError
from programs.models.encoders.encoder import Encoder, Vectors
from programs.models.ledger import Phase, current_scope
from programs.progress import counted
from programs.settings import Settings, TamSettings
from programs.state import NodeType
from programs.tam.abstract import Abstractor, LeadAbstractor, NoAbstraction, Reuse
from programs.tam.graph import Edge, GraphParts, Nodes, TypedGraph
from programs.tam.group import DIGITS, Group, cosine_groups
from programs.tam.headings import Headings
from programs.tam.names import each_links
from programs.tam.segment import Segment, segment

EVERYTHING = -1.0
"""A threshold that every pair passes."""


class NothingToBuildOn(InputError):
    """A collection without text."""


def build_graph(
    collection: Collection,
    encoder: Encoder,
    abstractor: Abstractor,
    settings: Settings,
    reuse: Reuse | None = None,
) -> TypedGraph:
    """Build the typed graph of a collection; abstraction calls are charged to the current ledger as indexing."""
    tam = settings.tam
    regions = regions_of(collection, encoder, tam)
    draft = _Draft(regions, encoder, abstractor, settings, reuse)
    with current_scope().ledger.scope(role="abstraction", phase=Phase.INDEX):
        relations = draft.layer(
            NodeType.RELATION, draft.evidence, settings.encoder.relation_threshold, tam.relation_members, tam.parents
        )
        topics = draft.layer(
            NodeType.TOPIC, relations, settings.encoder.topic_threshold, tam.topic_members, tam.parents
        )
        while tam.deepen and len(topics) > widest_root(settings):
            topics = draft.layer(NodeType.TOPIC, topics, EVERYTHING, tam.topic_members, parents=1)
    return draft.finish(topics)


def regions_of(collection: Collection, encoder: Encoder, tam: TamSettings) -> list[Segment]:
    """Cut a collection into the regions that are its Evidence, or raise `NothingToBuildOn`."""
    regions = segment(collection, encoder, tam.region_tokens, tam.overlap_tokens, tam.boundaries)
    if not regions:
        raise NothingToBuildOn(
            f"the collection's {len(collection)} sources have no text to build a graph from; "
            "give at least one source with words in it"
        )
    return regions


def widest_root(settings: Settings) -> int:
    """Give the fan-out at which the root needs no further Topic layer.

    Half of Cmax: the root's children then cost at most half of the candidates and leave as many for the levels below,
    and the pre-rank of a level, which may spend an equal share of what is left, passes over few of them. A tighter
    bound would force unlike Topics together, which costs more than it finds. Below `topic_members` another layer
    would be a single node.
    """
    return max(settings.navigation.candidates // 2, settings.tam.topic_members)


class _Draft:
    """A graph under construction: nodes in order, edges, and one block of vectors a layer."""

    def __init__(
        self,
        regions: Sequence[Segment],
        encoder: Encoder,
        abstractor: Abstractor,
        settings: Settings,
        reuse: Reuse | None,
    ) -> None:
        self._regions = tuple(regions)
        self._encoder = encoder
        self._abstractor = abstractor
        self._lead = LeadAbstractor(encoder, settings.tam.child_tokens)
        self._tam = settings.tam
        self._reuse = reuse
        self.evidence = range(1, len(regions) + 1)
        self._types = [NodeType.ROOT, *(NodeType.EVIDENCE for _ in regions)]
        self._texts = ["", *(region.text for region in regions)]
        leaves = np.asarray(encoder.encode_passages(self._texts[1:]), np.float32)
        self._vectors: Vectors = np.concatenate([np.zeros((1, leaves.shape[1]), np.float32), leaves])
        self._edges: list[Edge] = []
        self._grounds: list[tuple[str, ...]] = [(), *((region.evidence_id,) for region in regions)]
        self._fallbacks = 0
        self._described: dict[tuple[str, ...], str] = {}

    def layer(self, kind: NodeType, below: range, threshold: float, members: int, parents: int) -> range:
        """Group a layer's nodes and put one node above each group."""
        found = cosine_groups(self._vectors[below.start : below.stop], threshold, members, parents)
        groups = [tuple(below[i] for i in group) for group in found]
        first = len(self._types)
        for group in counted(f"{kind} abstractions", groups):
            self._grounds.append(tuple(dict.fromkeys(eid for child in group for eid in self._grounds[child])))
            self._texts.append(self._abstraction(kind, group))
        self._types.extend(kind for _ in groups)
        self._edges.extend((first + i, child) for i, group in enumerate(groups) for child in group)
        self._vectors = np.concatenate([self._vectors, self._layer_vectors(groups, first)])
        return range(first, len(self._types))

    def _abstraction(self, kind: NodeType, group: Group) -> str:
        children = [self._texts[child] for child in group]
        if len(children) == 1:
            return children[0]
        key = self._abstractor.key(kind, children) if self._reuse else None
        known = self._reuse.recall(key) if self._reuse and key else None
        if known is not None:
            return known
        alike = (kind, *children)
        if alike not in self._described:  # two groups of the same texts are one question
            self._described[alike] = self._describe(kind, children, key)
        return self._described[alike]

    def _describe(self, kind: NodeType, children: list[str], key: str | None) -> str:
        try:
            text = self._abstractor.describe(kind, children)
        except NoAbstraction:
            self._fallbacks += 1  # one bad summary must not cost the index
            return self._lead.describe(kind, children)
        if self._reuse and key:
            self._reuse.remember(key, text, self._grounds[-1])
        return text

    def _layer_vectors(self, groups: Sequence[Group], first: int) -> Vectors:
        """Encode the layer's abstractions in one batch; a singleton has its child's vector."""
        vectors: Vectors = self._vectors[[group[0] for group in groups]]
        abstracted = [i for i, group in enumerate(groups) if len(group) > 1]
        if abstracted:
            vectors[abstracted] = self._encoder.encode_passages([self._texts[first + i] for i in abstracted])
        return vectors

    def finish(self, topics: range) -> TypedGraph:
        """Connect the root, fix ρ, and check what was built."""
        edges = (*((0, topic) for topic in topics), *self._edges)
        graph = TypedGraph(
            GraphParts(
                regions=self._regions,
                types=tuple(self._types),
                texts=tuple(self._texts),
                vectors=self._vectors,
                edges=edges,
                rho=region_map(self._regions, edges, self._vectors, self._tam),
                tam=self._tam,
                fallbacks=self._fallbacks,
            )
        )
        graph.check()
        return graph


def region_map(
    regions: Sequence[Segment], edges: Sequence[Edge], vectors: Vectors, tam: TamSettings
) -> tuple[Nodes, ...]:
    """Give ρ of each Evidence node: itself, its siblings under a Relation, its neighbours in the source.

    By the rule 'names', up to half of the region goes to the nodes that it leads to by name, before the others: those
    that are headed by what it names, then those that share rare names with it.
    """
    related: list[set[int]] = [set() for _ in range(len(regions) + 1)]
    families: dict[int, list[int]] = {}
    for parent, child in edges:
        if 1 <= child <= len(regions):
            families.setdefault(parent, []).append(child)
    for family in families.values():
        for node in family:
            related[node].update(family)
    for node in range(1, len(regions)):
        if regions[node - 1].source_id == regions[node].source_id:
            related[node].add(node + 1)
            related[node + 1].add(node)
    texts = [region.text for region in regions]
    by_name = _led_to_by_name(texts) if tam.region_rule == "names" else repeat(())
    return tuple(
        _region(node, related[node], named, vectors, tam.region_size)
        for node, named in zip(range(1, len(regions) + 1), by_name, strict=False)
    )


def _led_to_by_name(texts: Sequence[str]) -> Iterator[Nodes]:
    """Give the nodes that each text leads to: what is headed by a name in it, then by how much shared names say."""
    for headed, shared in zip(Headings(texts).links, each_links(texts), strict=True):
        by_weight = sorted(shared, key=lambda place: (-round(shared[place], DIGITS), place))
        yield tuple(place + 1 for place in dict.fromkeys([*sorted(headed), *by_weight]))


def _region(node: int, related: set[int], by_name: Nodes, vectors: Vectors, size: int) -> Nodes:
    """Order a node's region: itself, the nodes that it leads to by name, then those that the graph holds beside it."""
    near = _nearest(node, related - {node}, vectors)
    others = dict.fromkeys([*by_name[: (size - 1) // 2], *near, *by_name])
    return (node, *list(others)[: size - 1])


def _nearest(node: int, related: set[int], vectors: Vectors) -> Nodes:
    """Order nodes by their similarity to one of them."""
    others = sorted(related)
    if not others:
        return ()
    cosines = np.round(vectors[others] @ vectors[node], DIGITS)
    return tuple(others[i] for i in np.argsort(-cosines, kind="stable"))
