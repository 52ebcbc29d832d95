"""Answer metrics: LongBench's normalisation, the paper's scores, and what an empty string may not win."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metrics.answers import (
    anls_paper,
    anls_standard,
    answer_scores,
    containment_accuracy,
    exact_match,
    normalise,
    strip_punctuation,
    token_f1,
)

NORMALISED = [exact_match, token_f1, containment_accuracy, anls_paper]
METRICS = [*NORMALISED, anls_standard]
words = st.sampled_from(
    ["the", "a", "An", "ferry", "Ferry!", "1868", "Brass-Heron", "Ørsted", "é", "...", "東京", "\u00a0"]
)
answers = st.lists(words, max_size=6).map(" ".join)
anything = st.text(max_size=40) | answers
references = st.lists(anything, min_size=1, max_size=3)


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
        ("snake_case", "snakecase"),
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
    assert not set(string.punctuation) & set(normalise(text))


@given(anything)
def test_normalising_twice_changes_nothing_more(text):
    once = normalise(text)
    assert normalise(once.lower()) == once.lower()


@given(st.text(st.characters(exclude_categories=()), max_size=30))
@example("\ud800!\udc00")
def test_deleting_punctuation_by_bytes_is_deleting_it_letter_by_letter(text):
    assert strip_punctuation(text) == "".join(c for c in text.lower() if c not in string.punctuation)


@pytest.mark.parametrize(
    ("prediction", "golds", "em", "f1", "accuracy"),
    [
        ("The Brass Heron", ["brass heron"], 1, 1, 1),
        ("Ida Holm of Pell", ["Ida Holm"], 0, 2 * (2 / 4) * 1 / (2 / 4 + 1), 1),
        ("Holm", ["Ida Holm"], 0, 2 / 3, 1),
        ("in 1910", ["10"], 0, 0, 1),
        ("no no yes", ["no yes yes"], 0, 2 / 3, 0),
        ("ferry ferry ferry", ["ferry"], 0, 2 * (1 / 3) * 1 / (1 / 3 + 1), 1),
        ("Vask", ["Ida Holm", "Jorund Vask", "vask."], 1, 1, 1),
        ("blue", ["red"], 0, 0, 0),
    ],
)
def test_scores_are_the_papers(prediction, golds, em, f1, accuracy):
    assert exact_match(prediction, golds) == em
    assert token_f1(prediction, golds) == pytest.approx(f1)
    assert containment_accuracy(prediction, golds) == accuracy


@pytest.mark.parametrize(
    ("prediction", "golds", "paper", "standard"),
    [
        ("Denver Broncos", ["Denver Broncos", "Denver R. Broncos"], 1, 1),
        ("12/15/89", ["12/15/88"], 5 / 6, 7 / 8),  # the slashes are characters to one and nothing to the other
        ("Dear dr. Lobo", ["Dear Dr. Lobo", "Dr. Lobo"], 1, 1),
        ("TVLKINGHEVDS", ["TALKINGHEADS", "TALKING HEADS"], 10 / 12, 10 / 12),
        ("REMAIN IN LIGHT", ["TALKINGHEADS", "TALKING HEADS"], 0, 0),
        ("Hello Wrld", ["Hello World"], 10 / 11, 10 / 11),
        ("ITC   limited\n", ["itc limited", "ITC Limited"], 1, 1),
        ("the itc", ["itc"], 1, 0),  # an article is an edit to the standard one: 4 of 7
        ("$1,500", ["1500"], 1, 4 / 6),
    ],
)
def test_anls_is_the_papers_and_docvqas(prediction, golds, paper, standard):
    assert anls_paper(prediction, golds) == pytest.approx(paper)
    assert anls_standard(prediction, golds) == pytest.approx(standard)


@pytest.mark.parametrize(
    ("prediction", "gold", "paper", "standard"),
    [("abcd", "abxy", 0.0, 0.5), ("abcde", "abcxy", 0.6, 0.6), ("abcde", "abxyz", 0.0, 0.0)],
)
def test_at_half_the_distance_the_paper_gives_nothing_and_docvqas_evaluation_gives_half(
    prediction, gold, paper, standard
):
    assert anls_paper(prediction, [gold]) == paper
    assert anls_standard(prediction, [gold]) == standard


@given(st.text("abc", min_size=1, max_size=6), st.text("xyz", min_size=1, max_size=6), st.integers(1, 50))
def test_blanks_buy_no_anls(prediction, gold, blanks):
    for anls in (anls_paper, anls_standard):
        assert anls(prediction + " " * blanks, [gold + "\n" * blanks]) == anls(prediction, [gold]) == 0.0


@pytest.mark.parametrize("metric", NORMALISED)
@pytest.mark.parametrize("nothing", ["", "   ", "the", "A.", "?!", "\n"])
def test_an_empty_or_article_only_text_never_scores_on_either_side(metric, nothing):
    assert metric(nothing, ["the ferry"]) == 0.0
    assert metric("the ferry", [nothing]) == 0.0
    assert metric(nothing, [nothing]) == 0.0


@pytest.mark.parametrize("nothing", ["", "   ", "\n"])
def test_an_empty_text_has_no_standard_anls_on_either_side_but_an_article_is_a_text(nothing):
    assert anls_standard(nothing, ["the ferry"]) == 0.0
    assert anls_standard("the ferry", [nothing]) == 0.0
    assert anls_standard(nothing, [nothing]) == 0.0
    assert anls_standard("A.", ["a."]) == 1.0


@pytest.mark.parametrize("metric", [*METRICS, answer_scores])
def test_a_query_without_references_is_an_error_and_not_a_zero(metric):
    with pytest.raises(ValueError, match="without reference answers"):
        metric("ferry", [])


@pytest.mark.parametrize("metric", METRICS)
@given(prediction=anything, golds=references)
def test_a_score_is_a_float_in_the_unit_interval_and_the_best_over_references(metric, prediction, golds):
    score = metric(prediction, golds)
    assert isinstance(score, float)
    assert 0.0 <= score <= 1.0
    assert score == max(metric(prediction, [gold]) for gold in golds)


@pytest.mark.parametrize("metric", METRICS)
@given(prediction=anything, golds=references, data=st.data())
def test_neither_the_order_nor_the_repetition_of_references_matters(metric, prediction, golds, data):
    shuffled = data.draw(st.permutations(golds + golds[:1]))
    assert metric(prediction, shuffled) == metric(prediction, golds)


@pytest.mark.parametrize("metric", METRICS)
@given(one=anything, other=anything)
def test_a_score_is_symmetric_between_prediction_and_reference(metric, one, other):
    assert metric(one, [other]) == metric(other, [one])


@pytest.mark.parametrize("metric", NORMALISED)
@given(text=anything)
def test_a_text_matches_itself_unless_normalisation_leaves_nothing(metric, text):
    assert metric(text, [text]) == (1.0 if normalise(text) else 0.0)


@given(prediction=anything, reference=anything)
def test_an_exact_match_implies_the_other_normalised_scores_in_full(prediction, reference):
    if exact_match(prediction, [reference]):
        assert [metric(prediction, [reference]) for metric in NORMALISED] == [1.0] * len(NORMALISED)


@given(prediction=anything, golds=references)
@example(prediction="abcd", golds=["abxy"])  # the one distance at which the two kinds of ANLS differ
def test_all_scores_at_once_are_the_scores_one_by_one(prediction, golds):
    names = ["em", "f1", "accuracy", "anls", "anls_standard"]
    assert answer_scores(prediction, golds) == {
        name: metric(prediction, golds) for name, metric in zip(names, METRICS, strict=True)
    }
