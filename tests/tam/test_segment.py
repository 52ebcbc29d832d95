"""Regions are exact: their text is the source at their offsets, and no token is lost."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.tam.segment import segment

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.lists(
    st.sampled_from(["word", "naïve", "日本", "🙂", "e\u0301", "\r\n", "\u2028", "\t", ".", " "]), max_size=60
).map(" ".join)


@settings(deadline=None)
@given(
    texts=st.lists(ANY_TEXT, max_size=3),
    tokens=st.integers(1, 12),
    boundaries=st.sampled_from(["tokens", "sentences"]),
    data=st.data(),
)
@example(texts=["a\r\nb\rc\nd\u0085e"], tokens=2, boundaries="tokens", data=None)
@example(texts=["a. b c d e. f\n\n# G\n\nh i."], tokens=3, boundaries="sentences", data=None)
def test_regions_are_the_source_at_their_offsets_and_cover_every_token(
    encoder, collect, texts, tokens, boundaries, data
):
    overlap = data.draw(st.integers(0, tokens - 1)) if data else 1
    collection = collect(texts)
    regions = segment(collection, encoder, tokens, overlap, boundaries)
    for region in regions:
        assert region.text == collection.texts[region.source_id][region.start : region.end]
        assert 1 <= len(encoder.spans(region.text)) <= tokens
    for source in collection.each():
        own = [r for r in regions if r.source_id == source.source_id]
        for start, end in encoder.spans(source.text):
            assert any(r.start <= start and end <= r.end for r in own)
        assert all(
            later.start > earlier.start and later.end > earlier.end for earlier, later in itertools.pairwise(own)
        )
    assert len({region.evidence_id for region in regions}) == len(regions)


def test_adjacent_windows_share_exactly_the_overlap(encoder, collect):
    text = " ".join(f"w{i}" for i in range(20))
    regions = segment(collect([text]), encoder, tokens=8, overlap=3)
    words = [region.text.split() for region in regions]
    assert [len(w) for w in words] == [8, 8, 8, 5]
    assert all(earlier[-3:] == later[:3] for earlier, later in itertools.pairwise(words))


def test_a_text_of_exactly_one_window_has_no_second_window_inside_it(encoder, collect):
    assert len(segment(collect(["a b c d"]), encoder, tokens=4, overlap=3)) == 1


def test_a_source_without_tokens_has_no_region(encoder, collect):
    regions = segment(collect(["", " \r\n\t", "x"]), encoder, tokens=4, overlap=1)
    assert [region.source_id for region in regions] == ["d2"]


def test_a_character_of_several_tokens_makes_no_repeated_region(collect):
    class BytesEncoder:
        def spans(self, text):
            return [(i, i + 1) for i, char in enumerate(text) for _ in char.encode()]

    regions = segment(collect(["🙂🙂é"]), BytesEncoder(), tokens=2, overlap=1)
    assert len({region.evidence_id for region in regions}) == len(regions)
    assert regions[-1].end == 3


def test_regions_end_with_sentences_where_one_fits(encoder, collect):
    text = "One two three. Four five. Six seven eight nine ten eleven twelve. End."
    regions = segment(collect([text]), encoder, tokens=7, overlap=0, boundaries="sentences")
    assert regions[0].text == "One two three. Four five."
    assert all(len(encoder.spans(region.text)) <= 7 for region in regions)


def test_a_region_begins_where_a_section_does_and_shares_nothing_with_the_one_before(encoder, collect):
    text = "# Alda\n\nOne two three four. Five six.\n\n# Beren\n\nSeven eight nine.\n"
    regions = segment(collect([text]), encoder, tokens=40, overlap=8, boundaries="sentences")
    assert [region.text.split("\n")[0] for region in regions] == ["# Alda", "# Beren"]


def test_the_overlap_is_whole_sentences(encoder, collect):
    text = "One two three. Four five. Six seven eight. Nine ten."
    regions = segment(collect([text]), encoder, tokens=8, overlap=4, boundaries="sentences")
    assert [region.text for region in regions] == [
        "One two three. Four five.",
        "Four five. Six seven eight.",
        "Six seven eight. Nine ten.",
    ]


@pytest.mark.parametrize(("tokens", "overlap"), [(4, 4), (4, 9), (4, -1)])
def test_an_overlap_that_would_not_advance_is_refused(encoder, collect, tokens, overlap):
    with pytest.raises(InputError, match="overlap"):
        segment(collect(["a b"]), encoder, tokens, overlap)
