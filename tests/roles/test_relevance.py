"""Fused relevance: ranks, not scores, are put together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import ModelUnavailable
from programs.roles.relevance import SMOOTHING, by_fusion, by_headings, by_names, fused, reciprocal
from programs.roles.retriever import Retriever, region_records
from programs.tam.headings import Headings
from tests.roles.test_roles import PLAN, nodes_about, propose, turn
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder

FUSION = {"retriever": {"ranker": "fusion"}}


@given(st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=30))
def test_reciprocal_ranks_depend_on_the_order_of_scores_alone(scores):
    values = np.array(scores)
    ranks = reciprocal(values)

    assert np.array_equal(ranks, reciprocal(10 * values + 3))
    assert sorted(ranks, reverse=True) == [1 / (rank + SMOOTHING) for rank in range(len(scores))]
    assert ranks[int(np.argmax(values))] == 1 / SMOOTHING


def test_a_fused_score_lies_between_0_and_1():
    lens = nodes_about(turn(), "observatory")[0]
    view = turn((lens,), **FUSION)

    assert all(0 < score <= 1 for score in by_fusion(view, region_records(view)))


def test_the_retriever_ranks_by_the_one_fusion_there_is():
    lens = nodes_about(turn(), "observatory")[0]
    view = turn((lens,), **FUSION)
    records = region_records(view)
    alone = fused(view.query, PLAN.targets, [each.text for each in records], HashedEncoder(), OverlapCrossEncoder())

    assert by_fusion(view, records).tolist() == alone.tolist()


def test_without_a_plan_the_targets_are_silent_and_the_other_opinions_are_heard():
    texts = ["The lens is in the dome.", "It rains in spring.", "The dome of the lens."]
    scores = fused("lens dome", (), texts, HashedEncoder(), OverlapCrossEncoder())

    assert np.isfinite(scores).all()
    assert scores[1] == scores.min()


def test_what_shares_a_name_with_the_best_is_lifted_and_what_shares_none_is_not():
    texts = ["Ysolde Marrane built it.", "It rains in spring.", "Ysolde Marrane left.", "Snow fell."]
    lifted = by_names(np.array([1.0, 0.9, 0.1, 0.1]), texts)

    assert lifted[2] == 1 / (SMOOTHING + 1)  # the best one is named by the other as well, and comes first
    assert lifted.tolist()[1] == lifted.tolist()[3] == 0.0


def test_what_is_headed_by_a_name_in_the_best_has_the_voice_of_its_rank():
    texts = ["It rains.", "Ysolde Marrane built it.", "Ysolde Marrane\n\nShe left.", "Snow fell."]
    voices = by_headings(np.array([1.0, 0.9, 0.1, 0.1]), Headings(texts))

    assert voices.tolist() == [0.0, 0.0, 1 / (SMOOTHING + 1), 0.0]


def test_fusion_keeps_what_bears_on_a_target_that_the_query_does_not_name():
    probe = turn()
    lens, ferry = nodes_about(probe, "observatory")[0], nodes_about(probe, "ferry")[0]
    kept = propose(Retriever(), turn((lens, ferry), lifecycle={"keep_first": 3}, **FUSION))

    assert any("ferry" in record.text for record in kept)
    assert any("observatory" in record.text for record in kept)


def test_fusion_without_a_cross_encoder_says_what_is_missing():
    lens = nodes_about(turn(), "observatory")[0]
    view = turn((lens,), cross_encoder={"engine": "none"}, **FUSION)
    object.__setattr__(view.tools, "cross_encoder", None)

    with pytest.raises(ModelUnavailable, match="'fusion'"):
        by_fusion(view, region_records(view))
