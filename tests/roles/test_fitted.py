"""The fitted ranking: signs of candidates, and weights that turn them into an order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.roles.fitted import ALONE, LINKED, SIGNS, Candidates, by_weights, probability
from programs.settings import RankingSettings, load_settings
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder

TEXTS = (
    "The Glass Harbour\n\nThe Glass Harbour is a film that was directed by Ysolde Marrane.",
    "Ysolde Marrane\n\nShe was born on Ambrel Island.",
    "Corvin Haldegast\n\nHe was born in Brackenport.",
    "Tides\n\nTides rise twice a day and nobody directed them.",
)
QUESTION = "Where was the director of The Glass Harbour born?"
EMBEDDED = load_settings("embedded").ranking


def looked(question=QUESTION, texts=TEXTS):
    return Candidates.read(question, texts, HashedEncoder(), OverlapCrossEncoder())


def column(signs, name, names=SIGNS["linked"]):
    return signs[:, names.index(name)].tolist()


def test_the_text_that_the_question_names_is_told_and_leads_to_the_one_that_it_names():
    candidates = looked()
    assert column(candidates.alone, "named", ALONE) == [1, 0, 0, 0]
    linked = candidates.linked(np.array([0.9, 0.1, 0.1, 0.1]))
    assert column(linked, "headed") == [0, 0.9, 0, 0]


def test_what_the_best_lacks_of_the_question_counts_for_those_that_have_it():
    opened = column(looked().linked(np.array([0.9, 0.1, 0.1, 0.1])), "open")
    assert opened[0] == opened[3] == 0
    assert opened[1] == opened[2] > 0, "born"


def test_the_shipped_weights_bring_the_second_hop_before_what_is_merely_alike():
    scores = by_weights(QUESTION, TEXTS, HashedEncoder(), OverlapCrossEncoder(), EMBEDDED)
    assert list(np.argsort(-scores)[:2]) == [0, 1]


def test_the_shipped_weights_name_the_signs_that_there_are():
    assert set(EMBEDDED.alone) == {*ALONE, "bias"}
    assert set(EMBEDDED.linked) == {*ALONE, *LINKED, "bias"}


def test_without_weights_all_are_equally_likely():
    scores = by_weights(QUESTION, TEXTS, HashedEncoder(), OverlapCrossEncoder(), RankingSettings())
    assert scores.tolist() == [0.5] * len(TEXTS)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=5))
def test_any_texts_have_finite_signs_and_probabilities(question, texts):
    candidates = looked(question, texts)
    first = probability(candidates.alone, EMBEDDED.alone, ALONE)
    signs = candidates.linked(first)
    assert signs.shape == (len(texts), len(SIGNS["linked"]))
    assert np.isfinite(signs).all()
    found = probability(signs, EMBEDDED.linked, SIGNS["linked"])
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 0, 3, 2]])
def test_the_order_in_which_candidates_come_does_not_matter(order):
    scores = by_weights(QUESTION, TEXTS, HashedEncoder(), OverlapCrossEncoder(), EMBEDDED)
    moved = by_weights(QUESTION, [TEXTS[i] for i in order], HashedEncoder(), OverlapCrossEncoder(), EMBEDDED)
    assert np.argsort(-moved)[0] == order.index(int(np.argmax(scores)))
