"""Answer metrics: LongBench's normalisation, the paper's three scores, and what an empty string may not win."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.answers import containment_accuracy, exact_match, normalise, token_f1

METRICS = [exact_match, token_f1, containment_accuracy]
words = st.sampled_from(
    ["the", "a", "An", "ferry", "Ferry!", "1868", "Brass-Heron", "Ørsted", "é", "...", "東京", "\u00a0"]
)
answers = st.lists(words, max_size=6).map(" ".join)
anything = st.text(max_size=40) | answers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Brass\tHeron.", "brass heron"),
        ("the-end of a day", "theend of day"),
        ("An apple, a pear & the fig", "apple pear fig"),
        ("Athena then another", "athena then another"),
        ("U.S.A.", "usa"),
        ("a.", ""),
        ("A-", ""),
        ("“The” end", "“ ” end"),
        ("Ørsted’s É", "ørsted’s é"),
        ("one\u00a0two\u2003three", "one two three"),
        ("", ""),
    ],
)
def test_normalisation_is_longbenchs_in_its_order(text, expected):
    assert normalise(text) == expected


@given(anything)
def test_normalised_text_has_single_spaces_and_no_ascii_punctuation_or_article(text):
    tokens = normalise(text).split(" ")
    assert normalise(text) == " ".join(normalise(text).split())
    assert not {"a", "an", "the"} & set(tokens)
    assert not set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") & set(normalise(text))


@pytest.mark.parametrize(
    ("prediction", "references", "em", "f1", "accuracy"),
    [
        ("The Brass Heron", ["brass heron"], 1, 1, 1),
        ("Ida Holm of Pell", ["Ida Holm"], 0, 2 * (2 / 4) * 1 / (2 / 4 + 1), 1),
        ("Holm", ["Ida Holm"], 0, 2 / 3, 1),
        ("in 1910", ["10"], 0, 0, 1),
        ("no no yes", ["no yes yes"], 0, 2 / 3, 0),
        ("Vask", ["Ida Holm", "Jorund Vask", "vask."], 1, 1, 1),
        ("blue", ["red"], 0, 0, 0),
    ],
)
def test_scores_are_the_papers(prediction, references, em, f1, accuracy):
    assert exact_match(prediction, references) == em
    assert token_f1(prediction, references) == pytest.approx(f1)
    assert containment_accuracy(prediction, references) == accuracy


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("nothing", ["", "   ", "the", "A.", "?!", "\n"])
def test_an_empty_or_article_only_text_never_scores_on_either_side(metric, nothing):
    assert metric(nothing, ["the ferry"]) == 0.0
    assert metric("the ferry", [nothing]) == 0.0
    assert metric(nothing, [nothing]) == 0.0


@pytest.mark.parametrize("metric", METRICS)
def test_a_query_without_references_is_an_error_and_not_a_zero(metric):
    with pytest.raises(ValueError, match="without reference answers"):
        metric("ferry", [])


@pytest.mark.parametrize("metric", METRICS)
@given(prediction=anything, references=st.lists(anything, min_size=1, max_size=3))
def test_a_score_is_a_float_in_the_unit_interval_and_the_best_over_references(metric, prediction, references):
    score = metric(prediction, references)
    assert isinstance(score, float)
    assert 0.0 <= score <= 1.0
    assert score == max(metric(prediction, [reference]) for reference in references)


@pytest.mark.parametrize("metric", METRICS)
@given(one=anything, other=anything)
def test_a_score_is_symmetric_between_prediction_and_reference(metric, one, other):
    assert metric(one, [other]) == metric(other, [one])


@pytest.mark.parametrize("metric", METRICS)
@given(text=anything)
def test_a_text_matches_itself_unless_normalisation_leaves_nothing(metric, text):
    assert metric(text, [text]) == (1.0 if normalise(text) else 0.0)


@given(prediction=anything, reference=anything)
def test_an_exact_match_implies_the_other_two_in_full(prediction, reference):
    if exact_match(prediction, [reference]):
        assert token_f1(prediction, [reference]) == 1.0
        assert containment_accuracy(prediction, [reference]) == 1.0
