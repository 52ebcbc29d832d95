import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.tam import names as names_module
from programs.tam.names import each_links, name_links, names

FILM = "The Amber Road is a drama. It was directed by Ysolde Marrane of Quarrow."
DIRECTOR = "Ysolde Marrane was born in a harbour town and studied law."
OTHER = "A drama about a road, and the harbour beside it."


def test_a_name_is_a_run_of_capitalised_words_with_its_particles():
    assert names("He met Corvin Haldegast, Duke of Sarn, in May.") == {
        "Corvin Haldegast",
        "Duke of Sarn",
        "Duke",
        "Sarn",
    }


def test_a_heading_does_not_run_into_the_text_below_it():
    assert names("Ysolde Marrane\nShe was born in a harbour town.") == {"Ysolde Marrane"}


def test_texts_are_linked_by_a_name_that_both_bear_and_not_by_common_words():
    links = name_links([FILM, DIRECTOR, OTHER])

    assert list(links[0]) == [1]
    assert list(links[1]) == [0]
    assert links[2] == {}


def test_a_word_that_also_occurs_without_its_capital_is_no_name():
    assert name_links(["Harbour walls fell.", "Harbour walls rose.", "The harbour is old."]) == [{}, {}, {}]


def test_a_name_that_most_texts_bear_links_nothing():
    assert all(not linked for linked in name_links([f"Quarrow has street number {i}." for i in range(40)]))


def test_a_longer_name_weighs_more_than_a_shorter_one():
    texts = ["Maren Ilsevik sang.", "Maren Ilsevik wrote.", "Quarrow burned.", "Quarrow stands.", "rain", "snow"]
    links = name_links(texts)

    assert links[0][1] > links[2][3]


def test_a_script_without_capitals_has_no_links():
    assert name_links(["東京は日本の首都です。", "日本の首都は東京です。", "مدينة القاهرة كبيرة"]) == [{}, {}, {}]


@given(st.lists(st.text(max_size=60), max_size=12))
def test_links_go_both_ways_alike_and_never_to_oneself(texts):
    links = name_links(texts)

    assert len(links) == len(texts)
    for here, linked in enumerate(links):
        assert here not in linked
        for there, weight in linked.items():
            assert weight > 0
            assert links[there][here] == weight


@given(st.lists(st.sampled_from([FILM, DIRECTOR, OTHER, "Maren Ilsevik sang.", "Quarrow stands."]), max_size=12))
def test_links_are_found_for_a_few_texts_at_a_time_and_are_the_same(texts):
    whole = name_links(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names_module, "ROWS", 3)
        few = each_links(texts)
        assert [next(few) for _ in texts] == whole
        assert not list(few)
