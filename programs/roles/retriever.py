"""The Retriever proposes E: which records of the committed path's region to keep, best first."""

from __future__ import annotations

from collections.abc import Callable

import dspy

from programs.content_key import content_key
from programs.contract import Reason
from programs.memory.artifacts import Kind, MemoryScope
from programs.models.ledger import Phase
from programs.registry import Registry
from programs.roles.excerpts import excerpts
from programs.roles.relevance import (
    Scorer,
    by_cross_encoder,
    by_embedding,
    by_fitted,
    by_fusion,
    cross_encoder_of,
    wants,
)
from programs.roles.view import ProposalFault, View, asking, numbered
from programs.state import EvidenceRecord, Role
from signatures.retriever import SelectEvidence


class Retriever(dspy.Module):  # type: ignore[misc]
    """Ranks at most `rerank` candidates of the region, with a model or with a scorer, and keeps at most the cap."""

    def __init__(self) -> None:
        super().__init__()
        self.select = dspy.Predict(SelectEvidence)

    def forward(self, view: View) -> dspy.Prediction:
        """Propose the evidence of this cycle; records that an earlier cycle committed stay candidates."""
        carried, candidates = carried_and_candidates(view)
        kept = RANKERS.get(view.tools.settings.retriever.ranker)(self, view, candidates) if candidates else ()
        return self.proposal(view, candidates, completed(view, carried, kept))

    def proposal(
        self, view: View, candidates: list[EvidenceRecord], kept: tuple[EvidenceRecord, ...]
    ) -> dspy.Prediction:
        """Propose what was kept, and say what it was chosen from."""
        self._offer(view, kept)
        return dspy.Prediction(value=kept, considered=tuple(record.evidence_id for record in candidates))

    def _offer(self, view: View, kept: tuple[EvidenceRecord, ...]) -> None:
        """Leave the selection to the rest of this query."""
        ids = [record.evidence_id for record in kept]
        if ids:
            view.tools.memories[Role.RETRIEVER].offer(
                Kind.SELECTION, content_key(str(view.cycle), *ids), {"evidence_ids": ids}, ids, MemoryScope.QUERY
            )

    def ask(self, view: View, candidates: list[EvidenceRecord]) -> tuple[EvidenceRecord, ...]:
        """Have the model choose, as in the paper."""
        tools, state = view.tools, view.state
        assert state.plan is not None  # the Planner's commit precedes this role's turn
        with asking(tools.ledger, Role.RETRIEVER):
            chosen = self.select(
                query=view.query,
                plan=state.plan.text,
                path=" ; ".join(" → ".join(str(node) for node in trace) for trace in state.path),
                region=", ".join(str(trace[-1]) for trace in state.path),
                candidates=numbered(candidates),
                cap=view.cap,
                lm=tools.auxiliary,
                config={"max_tokens": tools.settings.lifecycle.role_tokens},
            ).selection.selected
        unknown = [number for number in chosen if not 1 <= number <= len(candidates)]
        if unknown:
            raise ProposalFault(
                Reason.OUTSIDE_REGION, f"candidates {unknown} were not shown (1–{len(candidates)})", str(list(chosen))
            )
        return tuple(candidates[number - 1] for number in chosen)


def carried_and_candidates(view: View) -> tuple[tuple[EvidenceRecord, ...], list[EvidenceRecord]]:
    """Part what stays as it was committed, where a revision only adds, from what is chosen from."""
    carried = view.earlier if view.tools.settings.adds else ()
    known = {record.home for record in carried}
    return carried, [record for record in region_records(view) if record.home not in known]


def completed(
    view: View, carried: tuple[EvidenceRecord, ...], kept: tuple[EvidenceRecord, ...]
) -> tuple[EvidenceRecord, ...]:
    """Put what was chosen behind what stays, as far as the cap has room for both, and cut it to sentences.

    What bears on the query or on a target is what a region is cut to, where the settings say that it is cut.
    """
    if carried:
        kept = kept[: max(0, view.cap - len({record.home for record in carried}))]
    sentences = view.tools.settings.retriever.sentences
    if sentences is not None:
        with view.tools.ledger.scope(Role.RETRIEVER.value, Phase.AUX):
            kept = excerpts(kept, wants(view), cross_encoder_of(view), sentences)
    return (*carried, *kept)


def region_records(view: View) -> list[EvidenceRecord]:
    """Gather the candidates: carried records, then the regions of the path's traces taken in turn, each id once.

    The traces take turns so that the cap on reranked candidates does not starve the last target's region.
    """
    graph = view.tools.graph
    settings = view.tools.settings
    carried = {r.evidence_id: r for r in view.earlier} if settings.lifecycle.carry else {}
    regions = [graph.region(trace[-1]) for trace in view.state.path]
    found: dict[str, EvidenceRecord] = {}
    for rank in range(max((len(region) for region in regions), default=0)):
        for region in regions:
            if rank < len(region):
                record = graph.record(region[rank], view.cycle)
                found.setdefault(record.evidence_id, record)
    fresh = [record for eid, record in found.items() if eid not in carried]
    return [*carried.values(), *fresh[: settings.retriever.rerank]]


Ranker = Callable[[Retriever, View, list[EvidenceRecord]], tuple[EvidenceRecord, ...]]
RANKERS: Registry[Ranker] = Registry("ranker", "staterag.rankers")
MODEL = "model"
"""The ranker that asks the model."""
RANKERS.register(MODEL)(Retriever.ask)


def by_score(scores_of: Scorer) -> Ranker:
    """Make a ranker of a function that scores candidates."""
    return lambda retriever, view, candidates: rank(view, candidates, scores_of)


RANKERS.register("cross-encoder")(by_score(by_cross_encoder))
RANKERS.register("embedding")(by_score(by_embedding))
RANKERS.register("fusion")(by_score(by_fusion))
RANKERS.register("fitted")(by_score(by_fitted))


def rank(view: View, candidates: list[EvidenceRecord], scores_of: Scorer) -> tuple[EvidenceRecord, ...]:
    """Keep the most relevant candidates by score, ties by their order; the best one is kept whatever its score."""
    with view.tools.ledger.scope(Role.RETRIEVER.value, Phase.AUX):
        scores = scores_of(view, candidates)
    ends = terminal_ids(view) if view.tools.settings.retriever.terminals else ()
    order = sorted(range(len(candidates)), key=lambda i: (candidates[i].evidence_id not in ends, -scores[i], i))
    least = view.tools.settings.retriever.minimum
    kept = [i for place, i in enumerate(order) if place == 0 or scores[i] >= least]
    return tuple(candidates[i] for i in kept[: view.cap])


def terminal_ids(view: View) -> set[str]:
    """Name the records that the committed traces end at: the Navigator's choice for each target."""
    return {view.tools.graph.record(trace[-1], view.cycle).evidence_id for trace in view.state.path}
