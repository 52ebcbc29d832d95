"""A long text is tokenised piece by piece, and its tokens are those of the whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.models.encoders import long_text
from programs.models.encoders.long_text import long_text_spans, pieces
from programs.models.encoders.onnx_encoder import OnnxEncoder
from programs.progress import listening
from tests.support.examples import examples
from tests.support.scripted import HashedEncoder

WORDS = [
    "word", "naïve", "cafe\u0301", "日本", "日本。", "🙂\u200d🙂", "\x00\x01" * 12, "\u0301" * 20, "x" * 130, "don't", "...",
    "[SEP]", "[MASK]", "\u200b" * 18, "1,234.5", "a_b", "ﬁ", "İ", "ß", "\ufffd" * 17, "السلام", "–", "”",
]  # fmt: skip
SPACES = [" ", "\n", "\r\n", "\t", "\u2028", "\u00a0", "  \n ", " " * 20]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SPACES)), max_size=60).map(
    lambda parts: "".join(word + space for word, space in parts)
)


@pytest.fixture(scope="module")
def real():
    return OnnxEncoder()


@settings(max_examples=examples(150), deadline=None)
@given(text=TEXTS, most=st.integers(140, 400))
def test_the_tokens_of_the_pieces_are_those_of_the_whole_text(real, text, most):
    ends = [end for _, end in pieces(text, most)]
    assert all(end - start <= most for start, end in pieces(text, most))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_text, "PIECE", most)
        for encoder in (real, HashedEncoder()):
            whole = encoder.spans(text)
            if all(has_a_place(text, start, end) for start, end in zip([0, *ends], ends[:-1], strict=False)):
                assert [tuple(span) for span in long_text_spans(encoder, text).tolist()] == whole


def has_a_place(text, start, end):
    return bool(long_text.PLACE.search(text, max(start, end - 1), min(end + 1, len(text))))


@given(text=st.text(max_size=80), most=st.integers(1, 20))
def test_pieces_are_the_text_and_none_is_too_large(text, most):
    cut = list(pieces(text, most))
    assert "".join(text[start:end] for start, end in cut) == text
    assert all(0 < end - start <= most for start, end in cut)


def test_no_tokenizer_is_given_a_long_text_at_once_and_the_step_says_how_far_it_is(monkeypatch):
    asked, steps = [], []

    class Asked(HashedEncoder):
        def spans(self, text):
            asked.append(len(text))
            return super().spans(text)

    monkeypatch.setattr(long_text, "PIECE", 1000)
    text = "some words of a long text\n" * 400
    with listening(lambda *step: steps.append(step)):
        spans = long_text_spans(Asked(), text)
    assert max(asked) <= 1000
    assert spans.dtype == np.int32
    assert spans.tolist() == [list(span) for span in HashedEncoder().spans(text)]
    assert steps[0] == ("cutting", 0, len(text))
    assert steps[-1] == ("cutting", len(text), len(text))
    assert [done for _, done, _ in steps] == sorted({done for _, done, _ in steps})
