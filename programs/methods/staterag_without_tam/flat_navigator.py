"""The Navigator's place without TAM: it proposes the regions nearest to what is wanted, and asks nobody."""

from __future__ import annotations

from itertools import chain, islice

import dspy
import numpy as np

from programs.models.ledger import Phase
from programs.roles.relevance import wants
from programs.roles.view import View
from programs.state import Role, Trace
from programs.tam.graph import TypedGraph


class FlatNavigator(dspy.Module):  # type: ignore[misc]
    """Ranks all Evidence for the query and for each target, and lets them take turns up to the Retriever's cap."""

    def forward(self, view: View) -> dspy.Prediction:
        """Propose a trace for each candidate, in the order in which they were taken."""
        graph = view.tools.graph
        with view.tools.ledger.scope(Role.NAVIGATOR.value, Phase.AUX):
            rankings = [nearest(view, want) for want in wants(view)]
        taken = dict.fromkeys(chain.from_iterable(zip(*rankings, strict=True)))
        path = tuple(trace_to(graph, node) for node in islice(taken, view.tools.settings.retriever.rerank))
        considered = tuple(evidence_id for trace in path for evidence_id in graph.provenance(trace[-1]))
        return dspy.Prediction(value=path, considered=considered)


def nearest(view: View, wanted: str) -> list[int]:
    """Order all Evidence nodes by their cosine with a text, ties by node order."""
    nodes = view.tools.graph.evidence_nodes
    cosines = view.tools.graph.cosines(view.tools.query_vector(wanted), "abstraction")[nodes.start : nodes.stop]
    return [nodes[place] for place in np.argsort(-cosines, kind="stable")]


def trace_to(graph: TypedGraph, node: int) -> Trace:
    """Give the one trace that ends at a node."""
    trace: Trace = (node,)
    while trace[0] != graph.root:
        trace = (*graph.parents(trace[0]), *trace)
    return trace
