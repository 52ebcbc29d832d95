"""RAPTOR's leaves: whole sentences, at most so many tokens, and exact offsets in every script."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.documents.collection import Collection, Source
from programs.methods.raptor.leaves import pack, sentence_segments, sentence_sizes
from programs.models.encoders.long_text import long_text_spans
from tests.support.scripted import HashedEncoder

ENCODER = HashedEncoder()


def leaves_of(*texts: str, tokens: int = 8):
    sources = tuple(Source(source_id=f"s{i}", text=text) for i, text in enumerate(texts))
    return sentence_segments(Collection(sources=sources), ENCODER, tokens)


def test_a_leaf_takes_whole_sentences_as_long_as_they_fit():
    leaves = leaves_of("One two three. Four five! Six seven eight? Nine.")
    assert [leaf.text for leaf in leaves] == ["One two three. Four five! Six seven eight?", "Nine."]


def test_a_sentence_longer_than_a_leaf_is_cut_and_its_rest_is_joined_by_the_next():
    leaves = leaves_of("a b. 1 2 3 4 5 6 7 8 9 10. c d.")
    assert [leaf.text for leaf in leaves] == ["a b.", "1 2 3 4 5 6 7 8", "9 10. c d."]


def test_a_leaf_never_crosses_a_source():
    assert [leaf.source_id for leaf in leaves_of("One.", "Two.", " \n ", "")] == ["s0", "s1"]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("A number such as 3.5 ends nothing. Two.", [7, 1]),
        ('He said "go." Then (he left.) So.', [3, 3, 1]),
        ("A title\nA line without an end\n\nAnother", [2, 5, 1]),
        ("هل هذا صحيح؟ نعم هو كذلك۔ انتهى", [3, 3, 1]),
        ("यह एक वाक्य है। यह दूसरा है", [4, 3]),
    ],
)
def test_sentences_end_where_a_reader_says_so(text, sizes):
    assert sentence_sizes(text, long_text_spans(ENCODER, text)) == sizes


def test_a_script_without_spaces_is_cut_after_its_full_stops():
    text = "这是第一句话。这是第二句话！“真的吗？”最后"
    spans = np.array([(i, i + 1) for i in range(len(text))], np.int32)
    assert sentence_sizes(text, spans) == [7, 7, 6, 2]


@given(st.lists(st.integers(1, 30)), st.integers(1, 12))
def test_packing_loses_nothing_and_fills_no_sum_above_the_most(sizes, most):
    sums = pack(sizes, most)
    assert sum(sums) == sum(sizes)
    assert all(0 < size <= most for size in sums)


@given(st.lists(st.text(alphabet="ab .!?\n。！ ü\r؟", max_size=60), max_size=3), st.integers(1, 6))
def test_leaves_are_the_sources_characters_in_order_and_hold_every_token(texts, tokens):
    leaves = leaves_of(*texts, tokens=tokens)
    for i, text in enumerate(texts):
        own = [leaf for leaf in leaves if leaf.source_id == f"s{i}"]
        assert all(text[leaf.start : leaf.end] == leaf.text for leaf in own)
        assert all(a.end <= b.start for a, b in pairwise(own))
        held = [(start + leaf.start, end + leaf.start) for leaf in own for start, end in ENCODER.spans(leaf.text)]
        assert held == ENCODER.spans(text)
        assert all(len(ENCODER.spans(leaf.text)) <= tokens for leaf in own)
