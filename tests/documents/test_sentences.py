"""Sentences, in any script that has full stops."""

from hypothesis import given
from hypothesis import strategies as st

from programs.documents.sentences import sentences_of


def test_sentences_end_at_full_stops_and_at_the_ends_of_lines():
    assert sentences_of('He said "Go." Then he left!\nA heading\n\nEnd') == [
        'He said "Go."',
        "Then he left!",
        "A heading",
        "End",
    ]


def test_sentences_end_at_the_full_stops_of_other_scripts_too():
    assert sentences_of("圆顶里有透镜。渡船在码头！\n好吗？") == ["圆顶里有透镜。", "渡船在码头！", "好吗？"]
    assert sentences_of("أين القبة؟ هنا.") == ["أين القبة؟", "هنا."]


def test_a_point_inside_a_word_ends_nothing():
    assert sentences_of("It cost 3.50 at example.org today.") == ["It cost 3.50 at example.org today."]


@given(st.text(alphabet="ab .!。\n\"'", max_size=60))
def test_nothing_but_space_is_lost_between_sentences(text):
    assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())
