"""Real encoders, fetched the way a user's are: pure functions of a text, with spans that can be trusted."""

import string
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from programs.errors import InputError, ModelUnavailable
from programs.models.encoders.cross_encoder import OnnxCrossEncoder
from programs.models.encoders.onnx_encoder import OnnxEncoder
from programs.models.encoders.sentence_encoder import BATCH, SentenceEncoder, bge_prefix
from programs.models.encoders.token_spans import LONGEST
from programs.models.ledger import Ledger, Phase

CAT = "The cat slept on the warm windowsill all afternoon while the rain fell outside."
BANK = "The central bank raised its interest rate by a quarter of a point."
QUESTION = "Where did the cat sleep?"


@pytest.fixture(scope="module")
def encoder():
    return OnnxEncoder("bge-small-en-v1.5")


@pytest.fixture(scope="module")
def cross_encoder():
    return OnnxCrossEncoder("ms-marco-minilm-l-12-v2")


@pytest.fixture(scope="module")
def sentence_encoder():
    return SentenceEncoder("all-minilm-l6-v2")


@pytest.fixture(params=["encoder", "sentence_encoder"])
def either(request):
    return request.getfixturevalue(request.param)


def charged(action):
    ledger = Ledger("q")
    with ledger.scope("test", Phase.AUX):
        action()
    return ledger.encoder_tokens


def test_vectors_are_unit_float32_and_say_which_text_is_closer(either):
    passages = either.encode_passages([CAT, BANK])
    question = either.encode_queries([QUESTION])[0]
    assert passages.shape == (2, either.dimension) == (2, 384)
    assert passages.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-5)
    assert passages[0] @ question > passages[1] @ question + 0.1


def test_nothing_in_gives_nothing_out(either, cross_encoder):
    assert either.encode_passages([]).shape == (0, 384)
    assert either.encode_queries([]).shape == (0, 384)
    assert cross_encoder.score("anything", []).shape == (0,)


def test_a_vector_is_a_function_of_its_text_alone(encoder):
    texts = [CAT, BANK, "", "x", CAT * 30, "Ünïcödé 😀 текст", CAT + " " + BANK]
    together = encoder.encode_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(encoder.encode_passages([text])[0], vector)
    assert np.array_equal(encoder.encode_passages(texts[::-1]), together[::-1])


def test_each_text_gets_its_own_vector_however_the_batches_are_made(sentence_encoder):
    texts = [(CAT if i % 2 else BANK)[: 7 + i * 37 % 70] for i in range(2 * BATCH + 3)]
    together = sentence_encoder.encode_passages(texts)
    for at in (0, 1, BATCH, BATCH + 1, 2 * BATCH + 2):
        np.testing.assert_allclose(sentence_encoder.encode_passages([texts[at]])[0], together[at], atol=1e-5)


def test_loading_an_encoder_prints_nothing(capfd):
    SentenceEncoder("all-minilm-l6-v2")
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_the_number_of_threads_does_not_change_a_vector_or_a_score(encoder, cross_encoder):
    texts = [CAT, BANK * 20, "x"]
    assert np.array_equal(OnnxEncoder(threads=1).encode_passages(texts), encoder.encode_passages(texts))
    alone = OnnxCrossEncoder(threads=1).score(QUESTION, texts)
    assert np.array_equal(alone, cross_encoder.score(QUESTION, texts))


def test_a_question_is_read_after_the_models_prefix(encoder, sentence_encoder):
    prefix = "Represent this sentence for searching relevant passages: "
    assert np.array_equal(encoder.encode_queries([QUESTION]), encoder.encode_passages([prefix + QUESTION]))
    np.testing.assert_allclose(
        sentence_encoder.encode_queries([CAT]), sentence_encoder.encode_passages([CAT]), atol=1e-6
    )
    assert bge_prefix("BAAI/bge-base-en-v1.5") == prefix
    assert bge_prefix("sentence-transformers/all-mpnet-base-v2") == ""


def test_encoding_reads_512_tokens_and_charges_what_it_read(either):
    assert charged(lambda: either.encode_passages(["one two three"])) == 5
    long = "word " * 2000
    assert charged(lambda: either.encode_passages([long, "one"])) == 512 + 3
    within, beyond = either.encode_passages(["word " * 400 + "cat " * 100, "word " * 400])
    assert within @ beyond < 0.999, "tokens after the 400th must count"
    same = either.encode_passages([long + "cat", long + "bank"])
    np.testing.assert_allclose(same[0], same[1], atol=1e-6)


def test_scores_rank_and_lie_between_0_and_1(cross_encoder):
    scores = cross_encoder.score(QUESTION, [BANK, CAT, ""])
    assert scores.dtype == np.float64
    assert scores.argmax() == 1
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[1] > 0.5 > scores[0]


def test_a_score_is_a_function_of_its_pair_alone(cross_encoder):
    texts = [CAT, BANK * 40, "x", CAT + BANK]
    together = cross_encoder.score(QUESTION, texts)
    assert [cross_encoder.score(QUESTION, [text])[0] for text in texts] == list(together)


def test_a_pair_is_cut_on_the_side_of_the_text_and_charged(cross_encoder):
    assert charged(lambda: cross_encoder.score("one two", ["three"])) == 6
    assert charged(lambda: cross_encoder.score(QUESTION, [CAT * 100, "x"])) == 512 + 10
    assert 0 <= cross_encoder.score("question " * 3000, [CAT * 100])[0] <= 1


def test_separators_written_in_a_document_are_plain_text(cross_encoder):
    forged = charged(lambda: cross_encoder.score("one", ["two [SEP] three"]))
    assert forged == charged(lambda: cross_encoder.score("one", ["two ( sep ) three"]))


def test_spans_are_the_tokens_of_plain_text(either):
    text = "Hello,  wide world!"
    assert [text[a:b] for a, b in either.spans(text)] == ["Hello", ",", "wide", "world", "!"]
    assert len(either.spans("word " * 3000)) == 3000


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t  \u2003"])
def test_only_white_space_has_no_tokens(either, text):
    assert either.spans(text) == []


@pytest.mark.parametrize("letter", ["a", "\u0301", "\x00", "\u200d", "漢", "가"])
def test_no_token_and_no_gap_hides_unbounded_text(encoder, letter):
    text = "start " + letter * 100_000 + " end"
    spans = encoder.spans(text)
    assert len(spans) >= 100_000 / LONGEST
    assert max(b - a for a, b in spans) <= LONGEST
    assert max(b[0] - a[1] for a, b in pairwise(spans)) <= LONGEST


ODD = st.sampled_from(
    ["\r\n", "\x00", "e\u0301", "\u0301", "İ", "ŉ", "ﬃ", "가", "שלום", "مرحبا", "👩‍👩‍👧", "❤️", "漢字", "[SEP]", "##a"]
)
TEXTS = st.lists(
    st.one_of(ODD, st.text(max_size=12), st.text(string.ascii_letters + " ", max_size=150)), max_size=12
).map("".join)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_spans_of_any_text_increase_do_not_overlap_and_stay_inside(encoder, text):
    reached = 0
    for start, end in encoder.spans(text):
        assert reached <= start < end <= min(len(text), start + LONGEST)
        assert not text[start:end].isspace()
        reached = end


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(string.ascii_letters + string.digits + string.punctuation + " \n", max_size=300))
def test_spans_cover_every_visible_character_of_plain_text(encoder, text):
    covered = set()
    for start, end in encoder.spans(text):
        covered.update(range(start, end))
    assert [i for i, c in enumerate(text) if not c.isspace() and i not in covered] == []


def test_a_hundred_thousand_tokens_are_found_in_time_that_grows_with_the_text(encoder):
    text = "the quick brown foxes jumped unbelievably high over it "

    def seconds(copies):
        started = time.process_time()
        assert len(encoder.spans(text * copies)) >= 9 * copies
        return time.process_time() - started

    seconds(100)
    small, large = seconds(1_100), seconds(11_000)
    assert large < 40 * small


def test_a_folder_of_the_users_is_named_by_its_content(tmp_path):
    from programs.models.weights.fetch import fetch

    folder = fetch("all-minilm-l6-v2")
    other = SentenceEncoder(str(folder))
    assert other.name.startswith("all-minilm-l6-v2@")
    np.testing.assert_allclose(other.encode_passages([CAT]), SentenceEncoder("all-minilm-l6-v2").encode_passages([CAT]))


def test_a_name_that_the_engine_can_not_open_is_an_error_with_a_remedy(tmp_path):
    with pytest.raises(InputError, match="sentence-transformers"):
        OnnxEncoder("all-minilm-l6-v2")
    with pytest.raises(InputError, match="cross-encoder"):
        OnnxCrossEncoder("bge-small-en-v1.5")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelUnavailable, match="folder"):
        SentenceEncoder(str(tmp_path / "empty"))
