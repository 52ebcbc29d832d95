"""The models without weights keep the same promises as those with."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=120)


def request(system: str, max_tokens: int = 64) -> ChatRequest:
    return ChatRequest((ChatMessage("system", system), ChatMessage("user", "Go.")), max_tokens)


@given(TEXT)
def test_tokens_are_the_whole_text_in_order(text):
    spans = ScriptedEngine({}).tokens(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@given(TEXT, st.integers(1, 12))
def test_a_completion_is_cut_at_max_tokens_and_says_so(text, limit):
    engine = ScriptedEngine(lambda _: text)
    whole = len(engine.tokens(text))
    answer = engine.complete(request("x", limit))
    assert text.startswith(answer.text)
    assert answer.completion_tokens == min(whole, limit) == len(engine.tokens(answer.text))
    assert (answer.finish_reason == "length") == (whole > limit)


def test_a_mapping_answers_by_the_longest_opening_of_the_instruction():
    engine = ScriptedEngine({"You are": "anyone", "You are the Planner": "a plan"})
    assert engine.complete(request("You are the Planner in a system.")).text == "a plan"
    assert engine.complete(request("You are the Verifier.")).text == "anyone"
    assert [r.messages[0].content for r in engine.requests] == [
        "You are the Planner in a system.",
        "You are the Verifier.",
    ]


def test_a_sequence_is_given_in_turn_and_its_last_repeats():
    engine = ScriptedEngine({"Judge": ["FAIL", "PASS"]})
    assert [engine.complete(request("Judge")).text for _ in range(3)] == ["FAIL", "PASS", "PASS"]


def test_a_prompt_that_the_script_does_not_know_is_an_error_that_shows_it():
    with pytest.raises(LookupError, match="opens 'Something else"):
        ScriptedEngine({"Judge": "x"}).complete(request("Something else entirely"))


def test_an_empty_completion_reaches_dspy_and_costs_no_token():
    ledger = Ledger("q")
    with ledger.scope("reader", Phase.READER):
        (text,) = LanguageModel(ScriptedEngine(lambda _: ""))("Hi.")
    assert text.strip() == ""
    assert (ledger.calls[0].completion_tokens, ledger.calls[0].finish_reason) == (0, "stop")


@given(st.lists(TEXT, max_size=5))
def test_hashed_vectors_are_unit_and_a_function_of_the_text_alone(texts):
    encoder = HashedEncoder()
    vectors = encoder.encode_passages(texts)
    assert vectors.shape == (len(texts), 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        np.testing.assert_array_equal(encoder.encode_queries([text])[0], vector)


@given(TEXT)
def test_hashed_spans_cover_all_but_white_space_in_short_steps(text):
    spans = HashedEncoder().spans(text)
    assert "".join(text[a:b] for a, b in spans) == "".join(text.split())
    assert all(0 < b - a <= 16 for a, b in spans)
    assert spans == sorted(spans)


def test_texts_that_share_words_are_nearer():
    near, far, query = HashedEncoder().encode_passages(
        ["the river Danube in Vienna", "an opera by Mozart", "Vienna Danube"]
    )
    assert query @ near > query @ far


@given(TEXT, st.lists(TEXT, max_size=4))
def test_overlap_scores_lie_between_0_and_1(query, texts):
    scores = OverlapCrossEncoder().score(query, texts)
    assert scores.shape == (len(texts),)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_overlap_is_the_share_of_the_querys_words():
    assert list(OverlapCrossEncoder().score("Danube Vienna", ["Vienna", "the danube at vienna", ""])) == [0.5, 1.0, 0.0]


def test_encoder_work_is_charged_to_the_query():
    ledger = Ledger("q")
    with ledger.scope("retriever", Phase.AUX):
        HashedEncoder().encode_passages(["one two", "three"])
        OverlapCrossEncoder().score("one", ["two three"])
    assert ledger.encoder_tokens == 6


def test_latency_is_spent_outside_the_lock_so_that_threads_overlap():
    engine = ScriptedEngine(lambda _: "x", latency=0.3)
    started = time.monotonic()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(engine.complete, [request("x")] * 4))
    assert time.monotonic() - started < 4 * 0.3
    assert len(engine.requests) == 4
