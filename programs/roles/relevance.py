"""How much candidates bear on the query and on the plan's targets: scores in [0, 1] by which the Retriever ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from programs.errors import ModelUnavailable
from programs.models.encoders.encoder import CrossEncoder, Encoder
from programs.roles.fitted import SEEDS, SMOOTHING, by_rank, by_weights
from programs.roles.view import View
from programs.state import EvidenceRecord
from programs.tam.headings import Headings
from programs.tam.names import name_links

Scores = npt.NDArray[np.float64]

ASKED = 0.4
"""The weight of a heading that stands in the query, where every other opinion has 1."""


Scorer = Callable[[View, Sequence[EvidenceRecord]], Scores]
"""Scores candidates; their order is the region's."""


def by_embedding(view: View, candidates: Sequence[EvidenceRecord]) -> Scores:
    """The best cosine with the query or a target."""
    best: Scores = np.max(similarity(view.tools.encoder, wants(view), texts_of(candidates)), axis=0)
    return best


def by_cross_encoder(view: View, candidates: Sequence[EvidenceRecord]) -> Scores:
    """The best pair score with the query or a target."""
    texts, scorer = texts_of(candidates), cross_encoder_of(view)
    best: Scores = np.max([crossed(scorer, want, texts) for want in wants(view)], axis=0)
    return best


def by_fusion(view: View, candidates: Sequence[EvidenceRecord]) -> Scores:
    """All opinions together, by rank."""
    query, *targets = wants(view)
    return fused(query, targets, texts_of(candidates), view.tools.encoder, cross_encoder_of(view))


def by_fitted(view: View, candidates: Sequence[EvidenceRecord]) -> Scores:
    """All signs together, by weights that were fitted on training questions.

    A revision that only adds looks for what its plan still wants: by the query alone it would take what came next in
    the first cycle.
    """
    tools, texts, (query, *targets) = view.tools, texts_of(candidates), wants(view)
    sought = targets if view.cycle > 1 and tools.settings.adds else [query]
    scored = [by_weights(want, texts, tools.encoder, cross_encoder_of(view), tools.settings.ranking) for want in sought]
    best: Scores = np.max(scored, axis=0)
    return best


def wants(view: View) -> list[str]:
    """The query, and after it the plan's targets."""
    assert view.state.plan is not None  # the Planner's commit precedes this role's turn
    return [view.query, *view.state.plan.targets]


def texts_of(candidates: Sequence[EvidenceRecord]) -> list[str]:
    return [record.text for record in candidates]


def fused(
    query: str, targets: Sequence[str], texts: Sequence[str], encoder: Encoder, cross_encoder: CrossEncoder
) -> Scores:
    """Fuse opinions by reciprocal rank: both encoders on the query, the encoder on the targets, headings and names.

    Scores of different makers can't be added, ranks can. The targets have one voice together, however many they are;
    where there is no plan it is silent.
    The cross-encoder is asked about the query alone: on the targets it cost as much again for each and added nothing.
    A second hop is often like neither query nor target, but is headed by a name that the first one gives, or shares
    one with it.
    """
    headings = Headings(texts)
    by_query, *by_target = similarity(encoder, [query, *targets], texts)
    first = reciprocal(by_query) + reciprocal(crossed(cross_encoder, query, texts))
    first[sorted(headings.named_in(query))] += ASKED / SMOOTHING
    meant = first + np.mean([reciprocal(scores) for scores in by_target], axis=0) if by_target else first
    fusion: Scores = meant + by_headings(first, headings) + by_names(first, texts)
    return fusion * SMOOTHING / (5 + ASKED)


def by_headings(first: Scores, headings: Headings) -> Scores:
    """Give the texts that are headed by what a best one names the voice of its rank; the rest get nothing."""
    voice = np.zeros(len(first))
    for rank, seed in enumerate(np.argsort(-first, kind="stable")[:SEEDS]):
        for place in headings.links[seed]:
            voice[place] = max(voice[place], 1.0 / (rank + SMOOTHING))
    return voice


def by_names(first: Scores, texts: Sequence[str]) -> Scores:
    """Rank the texts that share rare names with the best ones; the rest get nothing."""
    links = name_links(texts)
    shared = np.zeros(len(texts))
    for seed in np.argsort(-first, kind="stable")[:SEEDS]:
        for place, weight in links[seed].items():
            shared[place] = max(shared[place], weight)
    ranked: Scores = np.where(shared > 0, reciprocal(shared), 0.0)
    return ranked


def reciprocal(scores: Scores) -> Scores:
    """Turn scores into 1 / (rank + smoothing), ties in the order that they came in."""
    return by_rank(scores) / SMOOTHING


def similarity(encoder: Encoder, wanted: Sequence[str], texts: Sequence[str]) -> Scores:
    """Give the cosine of each want (a row) with each text, moved to [0, 1]."""
    cosines = encoder.encode_queries(wanted) @ encoder.encode_passages(texts).T
    return np.asarray((1.0 + cosines) / 2.0, dtype=np.float64)


def crossed(cross_encoder: CrossEncoder, wanted: str, texts: Sequence[str]) -> Scores:
    """Ask the cross-encoder about one want."""
    return np.asarray(cross_encoder.score(wanted, texts), dtype=np.float64)


def cross_encoder_of(view: View) -> CrossEncoder:
    """Give the cross-encoder, or say which setting asks for one that there is not."""
    scorer = view.tools.cross_encoder
    if scorer is None:
        ranker = view.tools.settings.retriever.ranker
        raise ModelUnavailable(f"retriever.ranker is {ranker!r} but cross_encoder.engine is 'none'")
    return scorer
