"""RAPTOR: a tree of summaries of summaries over small leaves, all of whose nodes are searched at once.

Where it differs from the published code: one tree grows over a query's whole collection, so that summaries may join
sources, though a leaf never does (over one source it is the same tree); leaves are measured in the encoder's tokens,
and a sentence longer than a leaf is cut, not dropped; UMAP is seeded and starts from principal components, so that
the same collection always has the same tree; above `full_search` nodes UMAP runs for fewer epochs and not every number
of clusters is tried; a cluster that clustering again does not make shorter is cut in the order of its nodes, where the
original never ends; two clusters of the same nodes are summarised once.
"""

from __future__ import annotations

from programs.methods.raptor.settings import RaptorSettings
from programs.methods.space import OneOf, Real, Whole
from programs.methods.spec import MethodSpec

SPEC = MethodSpec(
    name="raptor",
    label="RAPTOR",
    program="programs.methods.raptor.program:Raptor",
    settings=RaptorSettings,
    needs={"umap": "staterag[baselines]"},
    space=(
        OneOf("raptor.leaf_tokens", (64, 100, 150, 200), index_calls=True),
        Whole("raptor.layers", 1, 5, index_calls=True),
        Real("raptor.threshold", 0.05, 0.5, index_calls=True),
        Whole("raptor.top_k", 5, 40, online=True),
        OneOf("raptor.max_tokens", (500, 1000, 1500, 2000), online=True),
    ),
    place=6,
    printed=6,
)
