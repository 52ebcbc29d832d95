"""Ranking: seeds from the recognised facts and from dense similarity, then a personalised PageRank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from programs.methods.hipporag2.phrase_graph import Fact, PhraseGraph

Scores = npt.NDArray[np.float64]


def min_max(scores: npt.NDArray[np.floating]) -> Scores:
    """Scale scores to [0, 1]. Where all are the same they are all 1."""
    exact = np.asarray(scores, dtype=np.float64)
    if not len(exact):
        return exact
    low, high = exact.min(), exact.max()
    scaled: Scores = (exact - low) / (high - low) if high > low else np.ones_like(exact)
    return scaled


def phrase_weights(facts: Sequence[tuple[Fact, float]], spread: npt.NDArray[np.int64], top: int) -> dict[int, float]:
    """Weigh the phrases of scored facts, and keep the `top` heaviest, ties in the order of the facts.

    A phrase weighs the mean, over its facts, of the fact's score divided by the number of passages that name the
    phrase: a phrase that is everywhere leads nowhere.
    """
    shares: dict[int, list[float]] = {}
    for fact, score in facts:
        for phrase in (fact.subject, fact.object):
            shares.setdefault(phrase, []).append(score / max(1, int(spread[phrase])))
    means = {phrase: sum(some) / len(some) for phrase, some in shares.items()}
    heaviest = sorted(means, key=lambda phrase: -means[phrase])[:top]
    return {phrase: means[phrase] for phrase in heaviest}


def seeds(phrases: Mapping[int, float], passages: Scores, graph: PhraseGraph) -> Scores:
    """Put both kinds of weights on their nodes."""
    reset = np.zeros(graph.phrases + graph.passages)
    for phrase, weight in phrases.items():
        reset[phrase] = weight
    reset[graph.phrases :] = passages
    return reset


def passage_scores(graph: PhraseGraph, reset: Scores, damping: float) -> Scores:
    """Walk from the seeds, and give the probability of being at each passage."""
    ranks = graph.graph.personalized_pagerank(
        reset=reset.tolist(), damping=damping, weights="weight", directed=False, implementation="prpack"
    )
    return np.asarray(ranks[graph.phrases :], dtype=np.float64)
