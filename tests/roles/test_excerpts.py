"""Regions cut to sentences: what is kept is the source's characters, and says which region it is a part of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.contract import evidence_id
from programs.roles.excerpts import excerpts
from programs.roles.view import grouped
from programs.state import EvidenceRecord
from tests.support.scripted import OverlapCrossEncoder

SCORER = OverlapCrossEncoder()
TEXT = (
    "Starrow Hill\nThe dome stands on a hill. Sheep graze there. The dome was built by Ysolde Marrane. "
    "It rains a lot. The lens came from Brackenport by ferry."
)


def region(text=TEXT, source="a.md", start=0):
    end = start + len(text)
    name = evidence_id(source, start, end)
    return EvidenceRecord(evidence_id=name, source_id=source, start=start, end=end, text=text, cycle=1)


def texts(records):
    return [record.text for record in records]


def test_the_opening_and_the_sentences_that_bear_most_are_kept_in_the_order_of_the_text():
    kept = excerpts([region()], ["Who was the dome built by?"], SCORER, 1)
    assert texts(kept) == ["Starrow Hill\nThe dome stands on a hill.", "The dome was built by Ysolde Marrane."]
    assert {part.region for part in kept} == {region().evidence_id}


def test_a_sentence_is_kept_for_any_of_the_wants():
    kept = excerpts([region()], ["Who was the dome built by?", "Where did the lens come from by ferry?"], SCORER, 2)
    assert texts(kept)[1:] == [
        "The dome was built by Ysolde Marrane.",
        "The lens came from Brackenport by ferry.",
    ]


def test_sentences_next_to_each_other_are_one_record():
    (kept,) = excerpts([region()], ["Do sheep graze there on a hill?"], SCORER, 1)
    assert kept.text == "Starrow Hill\nThe dome stands on a hill. Sheep graze there."


@pytest.mark.parametrize("sentences", [None, 4, 9])
def test_a_region_with_nothing_to_leave_out_stays_as_it_is(sentences):
    assert excerpts([region()], ["dome"], SCORER, sentences) == (region(),)


@pytest.mark.parametrize("text", ["", "Starrow Hill\n", "…"])
def test_a_region_without_sentences_stays_as_it_is(text):
    assert excerpts([region(text)], ["dome"], SCORER, 1) == (region(text),)


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=120), max_size=3), st.integers(0, 4), st.integers(0, 9))
def test_I6_every_part_is_its_source_at_its_offsets_and_inside_its_region(written, sentences, start):
    regions = [region(text, f"s{i}", start) for i, text in enumerate(written)]
    kept = excerpts(regions, ["where is the dome"], SCORER, sentences)
    by_id = {each.evidence_id: each for each in regions}
    assert [part.home for part in kept if part.home in by_id] == [part.home for part in kept]
    for part in kept:
        whole = by_id[part.home]
        assert whole.text[part.start - start : part.end - start] == part.text
        assert part.evidence_id == evidence_id(part.source_id, part.start, part.end)
    assert len({part.evidence_id for part in kept}) == len(kept)


def test_the_reader_sees_the_parts_of_a_region_under_one_number():
    first, second = excerpts([region()], ["Who was the dome built by?"], SCORER, 1)
    other = region("Brackenport\nA harbour.", "b.md")
    shown = "[1] Starrow Hill\nThe dome stands on a hill. … The dome was built by Ysolde Marrane.\n\n[2] Brackenport\nA harbour."
    assert grouped([second, other, first]) == shown
