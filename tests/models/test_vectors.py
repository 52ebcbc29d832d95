"""Cached encoders answer exactly as the ones inside them, and ask them only for what is new."""

import multiprocessing
import sqlite3
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.content_key import content_bytes
from programs.models.cache import vectors
from programs.models.cache.vectors import CachedCrossEncoder, CachedEncoder
from programs.models.encoders.cross_encoder import OnnxCrossEncoder
from programs.models.encoders.onnx_encoder import OnnxEncoder
from programs.models.ledger import Ledger, Phase, charge_encoder
from programs.progress import listening
from tests.support.scripted import HashedEncoder


class CountingEncoder:
    """Gives vectors that only the text and the mode decide, and notes every text that it was asked for."""

    dimension = 4

    def __init__(self, name="counting"):
        self.name = name
        self.asked = []
        self.tokenised = []

    def encode_passages(self, texts):
        return self._encode(texts, 1.0)

    def encode_queries(self, texts):
        return self._encode(texts, -1.0)

    def spans(self, text):
        self.tokenised.append(text)
        return [(i, i + 1) for i, c in enumerate(text) if not c.isspace()]

    def score(self, query, texts):
        self.asked += texts
        return np.array([1 / (1 + len(query) + len(text)) for text in texts], dtype=np.float64)

    def tokens(self, query, text):
        return len(query) + len(text)

    def _encode(self, texts, sign):
        self.asked += texts
        charge_encoder(sum(len(text) for text in texts))
        rows = [[sign, len(text), sum(map(ord, text)), ord(text[0]) if text else 0] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 4)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "v.sqlite"


def test_a_text_is_encoded_and_charged_once_in_memory_and_across_openings(path):
    inner = CountingEncoder()
    first = CachedEncoder(inner, path)
    ledger = Ledger("q")
    with ledger.scope("test", Phase.AUX):
        before = first.encode_passages(["b", "a", "b"])
        first.encode_passages(["a"])
    assert inner.asked == ["b", "a"]
    assert ledger.encoder_tokens == 2
    first.close()
    again = CountingEncoder()
    assert np.array_equal(CachedEncoder(again, path).encode_passages(["b", "a", "b"]), before)
    assert again.asked == []


def test_I5_a_query_is_charged_alike_whether_a_result_is_computed_or_remembered(path):
    charged = []
    for _ in range(2):
        ledger = Ledger("q")
        with ledger.scope("test", Phase.AUX):
            CachedEncoder(CountingEncoder(), path).encode_passages(["abc", "de", "abc"])
            CachedCrossEncoder(CountingEncoder(), path).score("q", ["abc"])
        charged.append(ledger.encoder_tokens)
    assert charged == [3 + 2 + 4, 3 + 2 + 4]


def test_models_and_modes_do_not_share_vectors(path):
    one, other = CountingEncoder("one"), CountingEncoder("other")
    cached = CachedEncoder(one, path)
    assert not np.array_equal(cached.encode_passages(["x"]), cached.encode_queries(["x"]))
    CachedEncoder(other, path).encode_passages(["x"])
    assert (one.asked, other.asked) == (["x", "x"], ["x"])


def test_parts_of_a_key_can_not_run_into_one_another():
    assert content_bytes("a", "bc") != content_bytes("ab", "c")
    assert content_bytes("m", "q", "1:x") != content_bytes("m", "q1:", "x")


def test_nothing_in_gives_nothing_out(path):
    assert CachedEncoder(CountingEncoder(), path).encode_passages([]).shape == (0, 4)
    assert CachedCrossEncoder(CountingEncoder(), path).score("q", []).shape == (0,)


@settings(max_examples=40, deadline=None)
@given(batches=st.lists(st.lists(st.text(max_size=5), max_size=6), max_size=6), in_memory=st.integers(1, 8))
def test_a_cached_encoder_answers_as_its_inner_one_whatever_was_asked_before(batches, in_memory):
    with tempfile.TemporaryDirectory() as folder:
        inner = CountingEncoder()
        cached = CachedEncoder(inner, Path(folder) / "v.sqlite", in_memory)
        for batch in batches:
            result = cached.encode_passages(batch)
            assert result.dtype == np.float32
            assert np.array_equal(result, CountingEncoder().encode_passages(batch))
        assert len(inner.asked) == len(set(inner.asked))
        cached.close()


def test_texts_of_like_length_are_encoded_together_and_the_step_reports_itself(path):
    texts = [str(i) * (1 + i * 7 % 5) for i in range(vectors.KEEP_EVERY + 100)]
    inner, steps = CountingEncoder(), []
    with listening(lambda *step: steps.append(step)):
        CachedEncoder(inner, path).encode_passages(texts)
    lengths = [len(text) for text in inner.asked]
    assert lengths == sorted(lengths, reverse=True)
    assert steps == [("encoding", done, len(texts)) for done in (0, vectors.KEEP_EVERY, len(texts))]


def test_memory_is_bounded(path):
    cached = CachedEncoder(CountingEncoder(), path, in_memory=10)
    cached.encode_passages([str(i) for i in range(200)])
    assert len(cached._cache._memory) == 10
    cached._spans = type(cached._spans)(50, getsizeof=len)
    for i in range(20):
        cached.spans(f"{i:010d}")
    assert cached._spans.currsize <= 50


def test_spans_are_found_once_and_can_not_be_spoilt_by_the_caller(path, monkeypatch):
    inner = CountingEncoder()
    cached = CachedEncoder(inner, path)
    cached.spans("a b").clear()
    assert cached.spans("a b") == [(0, 1), (2, 3)]
    assert inner.tokenised == ["a b"]
    monkeypatch.setattr(vectors, "SPANS_IN_MEMORY", 2)
    assert len(cached.spans("too long to keep")) == 13


def test_scores_are_computed_once_a_pair(path):
    inner = CountingEncoder()
    cached = CachedCrossEncoder(inner, path)
    first = cached.score("q", ["a", "bb", "a"])
    assert np.array_equal(first, CountingEncoder().score("q", ["a", "bb", "a"]))
    assert sorted(inner.asked) == ["a", "bb"]
    cached.score("another q", ["a"])
    assert sorted(inner.asked) == ["a", "a", "bb"]
    again = CountingEncoder()
    assert np.array_equal(CachedCrossEncoder(again, path).score("q", ["a", "bb", "a"]), first)
    assert again.asked == []


def spoil_with_noise(path):
    path.write_bytes(b"this is no database at all" * 100)


def spoil_with_another_database(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()


def spoil_with_another_version(path):
    CachedEncoder(CountingEncoder(), path).close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
    other.close()


@pytest.mark.parametrize("spoil", [spoil_with_noise, spoil_with_another_database, spoil_with_another_version])
def test_a_file_that_is_no_cache_is_put_aside_with_a_warning(path, spoil):
    spoil(path)
    content = path.read_bytes()
    with pytest.warns(UserWarning, match="put aside"):
        cached = CachedEncoder(CountingEncoder(), path)
    cached.encode_passages(["a"])
    assert [p.read_bytes() for p in path.parent.glob("v.sqlite.aside-*")] == [content]
    again = CountingEncoder()
    CachedEncoder(again, path).encode_passages(["a"])
    assert again.asked == []


def test_damage_that_shows_only_when_read_is_survived(path):
    cached = CachedEncoder(CountingEncoder(), path)
    texts = [str(i) for i in range(3000)]
    expected = cached.encode_passages(texts)
    cached.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    with pytest.warns(UserWarning, match="put aside"):
        assert np.array_equal(CachedEncoder(CountingEncoder(), path).encode_passages(texts), expected)


def test_a_stored_vector_of_the_wrong_length_is_computed_again(path):
    cached = CachedEncoder(CountingEncoder(), path)
    cached._cache._store.put({content_bytes("counting", "passage", "a"): b"short"})
    assert np.array_equal(cached.encode_passages(["a"]), CountingEncoder().encode_passages(["a"]))


def test_a_place_that_can_not_be_written_costs_only_the_disk_cache(path):
    path.mkdir()
    with pytest.warns(UserWarning, match="not kept"):
        cached = CachedEncoder(CountingEncoder(), path)
    assert cached.encode_passages(["a"]).shape == (1, 4)


def encode_in_a_process(path, start, results):
    warnings.simplefilter("error")
    cached = CachedEncoder(CountingEncoder(), path)
    texts = [str(i) for i in range(start, start + 600)]
    results.put(np.array_equal(cached.encode_passages(texts), CountingEncoder().encode_passages(texts)))


def test_two_processes_write_the_same_file_at_once(path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    processes = [context.Process(target=encode_in_a_process, args=(path, start, results)) for start in (0, 300, 600)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert [results.get(timeout=5) for _ in processes] == [True] * 3
    after = CountingEncoder()
    CachedEncoder(after, path).encode_passages([str(i) for i in range(1200)])
    assert after.asked == []


def test_real_encoders_give_the_same_bits_cached_and_not(path):
    encoder, cross_encoder = OnnxEncoder(), OnnxCrossEncoder()
    texts = ["A cat slept.", "Interest rates rose.", "", "A cat slept. " * 20]
    cached, scored = CachedEncoder(encoder, path), CachedCrossEncoder(cross_encoder, path)
    cached.encode_passages(texts[:2])
    assert np.array_equal(cached.encode_passages(texts), encoder.encode_passages(texts))
    scored.score("Who slept?", texts[2:])
    assert np.array_equal(scored.score("Who slept?", texts), cross_encoder.score("Who slept?", texts))


def test_seconds_that_a_cache_spares_a_query_are_told_once_and_only_where_it_spared_them(tmp_path):
    class Slow(HashedEncoder):
        def encode_passages(self, texts):
            time.sleep(0.01 * len(texts))
            return super().encode_passages(texts)

    def spared(encoder, *batches):
        ledger = Ledger("q")
        with ledger.scope("index", Phase.INDEX):
            for texts in batches:
                encoder.encode_passages(texts)
        return ledger.spared[Phase.INDEX]

    path = tmp_path / "vectors.sqlite"
    assert spared(CachedEncoder(Slow(), path), ["a b", "c d"], ["a b"]) == 0
    again = spared(CachedEncoder(Slow(), path), ["a b", "c d"], ["a b"])
    assert again >= 0.02
    assert spared(CachedEncoder(Slow(), path), ["a b", "new"]) == pytest.approx(again / 2)


def test_results_of_a_large_text_are_let_go_of_as_they_are_handed_out(path):
    held = {b"a": b"x" * 20, b"b": b"y" * 20}
    given_out = vectors._handed_out([b"a", b"b", b"a"], held)
    assert [next(given_out)[:1], next(given_out)[:1]] == [b"x", b"y"]
    assert list(held) == [b"a"]
    assert [next(given_out)[:1], held] == [b"x", {}]
