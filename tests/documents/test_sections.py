"""Sections begin at headings, and a heading is told by its looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from programs.documents.sections import heading_of, section_starts

PARAGRAPH = (
    "The Starrow Hill Observatory stands above the harbour, and its lens was ground by hand in the winter of 1871."
)

PASSAGES = f"Passage 1:\nStarrow Hill\n{PARAGRAPH}\nPassage 2:\nYsolde Marrane\n{PARAGRAPH}\n"
MARKDOWN = f"# Harbour\n\nIt is old.\n\n## Walls\n\n{PARAGRAPH}\n"
WRAPPED = "The observatory stands\nabove the harbour and\nits lens was ground by\nhand.\n"


def starts_of(text: str) -> list[str]:
    return [text[start:].split("\n", 1)[0] for start in section_starts(text)]


def test_a_run_of_headings_begins_one_section():
    assert starts_of(PASSAGES) == ["Passage 2:"]


def test_a_marked_heading_begins_a_section():
    assert starts_of(MARKDOWN) == ["## Walls"]


def test_lines_of_a_page_are_no_headings():
    assert section_starts(WRAPPED) == []


def test_a_short_sentence_before_a_paragraph_is_no_heading():
    assert section_starts(f"{PARAGRAPH}\nIt was sold.\n{PARAGRAPH}") == []


def test_the_last_of_several_headings_is_what_a_text_is_headed():
    assert heading_of(PASSAGES) == "Starrow Hill"


def test_marks_and_remarks_are_not_part_of_a_heading():
    assert heading_of(f"## Mercury (planet)\n\n{PARAGRAPH}") == "Mercury"


def test_a_text_that_opens_with_a_sentence_has_no_heading():
    assert heading_of(PARAGRAPH) == heading_of("") == heading_of("It is old.\n\n# Walls\n") == ""


@given(st.lists(st.sampled_from(["# A", "A", "A.", "", PARAGRAPH, "東京", " \r"]), max_size=12).map("\n".join))
def test_sections_begin_at_lines_after_the_first(text):
    starts = section_starts(text)

    assert starts == sorted(set(starts))
    assert all(0 < start < len(text) and text[start - 1] == "\n" for start in starts)
    assert heading_of(text) in text
