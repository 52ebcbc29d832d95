"""HippoRAG 2: a graph of phrases and passages, walked from recognised facts."""

from __future__ import annotations

from programs.methods.hipporag2.settings import Hipporag2Settings
from programs.methods.space import FULL, Filling, Real, Whole, segmentation
from programs.methods.spec import MethodSpec
from signatures.baselines.hipporag2 import MOST_FACTS

SPEC = MethodSpec(
    name="hipporag2",
    label="HippoRAG2",
    program="programs.methods.hipporag2.program:HippoRAG2",
    settings=Hipporag2Settings,
    space=(
        *segmentation(index_calls=True),
        Real("hipporag2.synonymy_threshold", 0.7, 0.95),
        Whole("hipporag2.linking_top_k", 3, MOST_FACTS, online=True),
        Real("hipporag2.damping", 0.2, 0.8, online=True),
        Real("hipporag2.passage_node_weight", 0.01, 0.5, log=True, digits=3, online=True),
        Filling("hipporag2.qa_top_k", 0.25, FULL, online=True),
    ),
    place=9,
    printed=8,
)
