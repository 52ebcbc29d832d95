"""GraphRAG: an entity graph made by a model, its communities and their reports, searched locally or globally.

Where it differs from version 3.1.2: completions are JSON held to a schema instead of delimited records; text units are
cut by the encoder's tokens, and as much smaller than published as the reader's budget is smaller than the published
context, so that several fit it whole; they end where the regions of the other methods would; the hierarchy of
communities is igraph's Leiden applied again to what is too large, which is not bit-equal to graspologic's; the last
answering call is the shared reader's.
"""

from __future__ import annotations

from programs.methods.graphrag.settings import GraphragSettings
from programs.methods.space import OneOf, Real, Whole
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="graphrag",
    label="GraphRAG",
    program="programs.methods.graphrag.program:GraphRAG",
    settings=GraphragSettings,
    space=(
        Real("graphrag.unit_share", 0.08, 0.35, index_calls=True),
        OneOf("graphrag.chunk_overlap", (0, 50, 100), index_calls=True),
        Whole("graphrag.gleanings", 0, 1, index_calls=True),
        Whole("graphrag.cluster_size", 5, 20, index_calls=True),
        Whole("graphrag.top_entities", 4, 20, online=True),
        Whole("graphrag.top_relationships", 2, 20, online=True),
        Whole("graphrag.community_level", 0, 3, online=True),
        Real("graphrag.text_unit_share", 0.3, 0.8, online=True),
        Real("graphrag.community_share", 0.0, 0.2, online=True),
        Real("graphrag.entity_share", 0.2, 0.8, online=True),
    ),
    fixed=(OneOf("graphrag.search", ("local", "global")),),
    place=7,
    printed=4,
)
