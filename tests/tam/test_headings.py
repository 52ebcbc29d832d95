"""A name leads to the text that it is the heading of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from programs.tam.headings import Headings

FILM = "The Amber Road\n\nThe Amber Road is a drama. It was directed by Ysolde Marrane of Quarrow."
DIRECTOR = "# Ysolde Marrane (director)\n\nShe was born in a harbour town and studied law."
OTHER = "Harbours\n\nA drama about an amber road, and Ysolde beside it."


def test_a_text_leads_to_what_is_headed_by_a_name_in_it_and_not_back():
    assert Headings([FILM, DIRECTOR, OTHER]).links == [{1}, set(), set()]


def test_a_question_names_headings_in_any_capitals():
    headings = Headings([FILM, DIRECTOR, OTHER])

    assert headings.named_in("who directed the amber road?") == {0}
    assert headings.named_in("Who was Ysolde?") == set()


def test_texts_under_one_heading_are_all_meant_and_do_not_lead_to_each_other():
    twin = "Ysolde Marrane\n\nYsolde Marrane was also a ship."

    assert Headings([FILM, DIRECTOR, twin]).links == [{1, 2}, set(), set()]


def test_a_heading_that_most_texts_name_leads_nowhere():
    texts = ["Overview\n\nIt is short.", *(f"See the overview of part {i}." for i in range(40))]

    assert not any(Headings(texts).links)


@given(
    st.lists(
        st.sampled_from(["Alda\n\nBeren came.", "Beren\n\nAlda left.", "", "東京\n\nAlda", "Alda Beren"]), max_size=9
    )
)
def test_links_lead_to_headings_that_stand_in_the_text_and_never_to_itself(texts):
    headings = Headings(texts)

    for here, linked in enumerate(headings.links):
        assert here not in linked
        assert linked <= headings.named_in(texts[here])
