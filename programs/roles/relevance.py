"""How much candidates bear on the query and on the plan's targets: scores in [0, 1] by which the Retriever ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from programs.errors import ModelUnavailable
from programs.roles.view import View
from programs.state import EvidenceRecord

Scores = npt.NDArray[np.float64]

SMOOTHING = 4
"""What is added to a rank before it is inverted: small, since a list has tens of candidates and not thousands."""


def relevance(view: View, candidates: Sequence[EvidenceRecord]) -> Scores:
    """Score candidates with the ranker that the settings name; the order of the candidates is the region's."""
    assert view.state.plan is not None  # the Planner's commit precedes this role's turn
    texts = [record.text for record in candidates]
    targets = list(view.state.plan.targets)
    ranker = view.tools.settings.retriever.ranker
    if ranker == "fusion":
        return fused(view, targets, texts)
    wants = [view.query, *targets]
    rows = similarity(view, wants, texts) if ranker == "embedding" else [crossed(view, want, texts) for want in wants]
    best: Scores = np.max(rows, axis=0)
    return best


def fused(view: View, targets: Sequence[str], texts: Sequence[str]) -> Scores:
    """Fuse four opinions by reciprocal rank: encoder and cross-encoder on the query, encoder on the targets, region.

    Scores of different makers can't be added, ranks can. The targets have one voice together, however many they are;
    the region's own order speaks for what a trace ended at and for what shares its names, which neither model sees.
    The cross-encoder is asked about the query alone: on the targets it cost as much again for each and added little.
    """
    by_query, *by_target = similarity(view, [view.query, *targets], texts)
    voices = [
        reciprocal(by_query),
        np.mean([reciprocal(scores) for scores in by_target], axis=0),
        reciprocal(crossed(view, view.query, texts)),
        reciprocal(-np.arange(len(texts), dtype=float)),
    ]
    fusion: Scores = np.mean(voices, axis=0) * SMOOTHING
    return fusion


def reciprocal(scores: Scores) -> Scores:
    """Turn scores into 1 / (rank + smoothing), ties in the order that they came in."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    inverted: Scores = 1.0 / (ranks + SMOOTHING)
    return inverted


def similarity(view: View, wanted: Sequence[str], texts: Sequence[str]) -> Scores:
    """Give the cosine of each want (a row) with each text, moved to [0, 1]."""
    encoder = view.tools.encoder
    cosines = encoder.encode_queries(wanted) @ encoder.encode_passages(texts).T
    return np.asarray((1.0 + cosines) / 2.0, dtype=np.float64)


def crossed(view: View, wanted: str, texts: Sequence[str]) -> Scores:
    """Ask the cross-encoder about one want."""
    scorer = view.tools.cross_encoder
    if scorer is None:
        ranker = view.tools.settings.retriever.ranker
        raise ModelUnavailable(f"retriever.ranker is {ranker!r} but cross_encoder.engine is 'none'")
    return np.asarray(scorer.score(wanted, texts), dtype=np.float64)
