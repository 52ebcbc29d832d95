"""Trace scorers g(q, p, a(last π)): listwise, cross-encoder, likelihood, embedding, and weighted sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from programs.content_key import content_key
from programs.contract import Reason
from programs.errors import ModelUnavailable
from programs.memory.artifacts import Kind, MemoryScope
from programs.models.encoders.encoder import Vectors
from programs.models.plain_text import numbered_items
from programs.registry import Registry
from programs.roles.view import ProposalFault, View
from programs.state import Role, Trace
from signatures.navigator import TraceScores


@dataclass(frozen=True)
class Goal:
    """What a traversal looks for: the text that nodes are compared with, and the plan that a model is shown."""

    text: str
    plan: str


class TraceScorer:
    """Scores candidate traces for one goal: the weighted mean of the configured scorers, each in [0, 1]."""

    def __init__(self, view: View, goal: Goal, cosines: Vectors, predictor: Any) -> None:
        self.view = view
        self.goal = goal
        self._cosines = cosines
        self._predictor = predictor

    def __call__(self, traces: Sequence[Trace]) -> list[float]:
        """Score each trace by its last node; one batched call a scorer, none for one without weight."""
        named = self.view.tools.settings.navigation.scorer
        weights = {name: weight for name, weight in named.items() if weight > 0}
        total = np.zeros(len(traces))
        for name, weight in weights.items():
            total += weight * np.asarray(SCORERS.get(name)(self, traces), dtype=float)
        return [float(score) for score in total / sum(weights.values())]

    def texts(self, traces: Sequence[Trace]) -> list[str]:
        return [self.view.tools.graph.text(trace[-1]) for trace in traces]

    def by_embedding(self, traces: Sequence[Trace]) -> Any:
        return (1.0 + self._cosines[[trace[-1] for trace in traces]]) / 2.0

    def by_cross_encoder(self, traces: Sequence[Trace]) -> Any:
        scorer = self.view.tools.cross_encoder
        if scorer is None:
            raise ModelUnavailable("navigation.scorer names 'cross-encoder' but cross_encoder.engine is 'none'")
        return scorer.score(self.goal.text, self.texts(traces))

    def by_likelihood(self, traces: Sequence[Trace]) -> list[float]:
        model = self.view.tools.auxiliary
        return [math.exp(model.likelihood(text + "\n\n", self.goal.text)) for text in self.texts(traces)]

    def by_listwise(self, traces: Sequence[Trace]) -> list[float]:
        """Ask the model for the candidates that memory has no score of; a full hit replaces the call."""
        tools = self.view.tools
        memory = tools.memories[Role.NAVIGATOR]
        keys = [self._key(text) for text in self.texts(traces)]
        known = {key: float(payload["score"]) for key, payload in memory.recall_many(Kind.TRACE_SCORE, keys).items()}
        unknown = [i for i, key in enumerate(keys) if key not in known]
        if unknown:
            scores = self._ask([traces[i] for i in unknown])
            for i, score in zip(unknown, scores, strict=True):
                known[keys[i]] = score
                provenance = tools.graph.provenance(traces[i][-1])
                memory.offer(Kind.TRACE_SCORE, keys[i], {"score": score}, provenance, MemoryScope.GLOBAL)
        return [known[key] for key in keys]

    def _ask(self, traces: Sequence[Trace]) -> list[float]:
        graded: TraceScores = self._predict(traces, query=self.view.query, plan=self.goal.plan).graded
        by_id = {entry.trace_id: entry.score for entry in graded.scores}
        if len(by_id) != len(graded.scores) or set(by_id) != set(range(1, len(traces) + 1)):
            raise ProposalFault(
                Reason.MALFORMED,
                f"{len(traces)} candidates were shown; the scores name {sorted(e.trace_id for e in graded.scores)}",
                graded.model_dump_json(),
            )
        return [by_id[i] for i in range(1, len(traces) + 1)]

    def _predict(self, traces: Sequence[Trace], **told: str) -> Any:
        """Show the candidates beside what else is told, and leave room for a score of each."""
        tools = self.view.tools
        return self._predictor(
            **told,
            traces=numbered_items(self._render(trace) for trace in traces),
            lm=tools.auxiliary,
            config={"max_tokens": max(tools.settings.lifecycle.role_tokens, 24 * len(traces) + 32)},
        )

    def _render(self, trace: Trace) -> str:
        tools = self.view.tools
        text = tools.graph.text(trace[-1])
        spans = tools.encoder.spans(text)[: tools.settings.tam.child_tokens]
        opening = text[: spans[-1][1]] if spans else text
        return f"{' > '.join(str(tools.graph.node_type(node)) for node in trace[1:])}: {opening}"

    def _key(self, text: str) -> str:
        tools = self.view.tools
        instructions = self._predictor.signature.instructions
        return content_key(text, self.view.query, self.goal.plan, tools.auxiliary.model, instructions)


SCORERS: Registry[Callable[[TraceScorer, Sequence[Trace]], Sequence[float]]] = Registry(
    "trace scorer", "staterag.trace_scorers"
)
SCORERS.register("listwise")(TraceScorer.by_listwise)
SCORERS.register("cross-encoder")(TraceScorer.by_cross_encoder)
SCORERS.register("likelihood")(TraceScorer.by_likelihood)
SCORERS.register("embedding")(TraceScorer.by_embedding)
