"""Evidence recall: what counts as found, and that overlapping evidence is not counted twice."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.evidence import covered, passage_coverage, source_recall, title_recall


class Passage(NamedTuple):
    title: str
    start: int
    end: int


HERON = Passage("Heron", 10, 30)
FINCH = Passage("Finch", 40, 60)
RECALLS = [title_recall, passage_coverage]
bounds = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: (min(pair), max(pair)))
spans = st.lists(bounds, max_size=6)
groups = st.lists(
    st.lists(bounds.map(lambda b: Passage("x" * min(3, b[1] - b[0]), *b)), max_size=3), min_size=1, max_size=4
)


@given(bounds, spans)
def test_covered_counts_each_character_once(span, evidence):
    admitted = {at for first, last in evidence for at in range(first, last)}
    assert covered(span, evidence) == len(admitted & set(range(*span)))


@pytest.mark.parametrize(
    ("evidence", "by_title", "by_half"),
    [
        ([], 0.0, 0.0),
        ([(10, 15)], 0.5, 0.0),
        ([(10, 14)], 0.0, 0.0),
        ([(20, 30)], 0.0, 0.5),
        ([(21, 30)], 0.0, 0.0),
        ([(0, 12), (12, 16)], 0.5, 0.0),
        ([(10, 14), (10, 14), (25, 30), (25, 30)], 0.0, 0.0),
        ([(12, 18), (22, 27)], 0.0, 0.5),
        ([(0, 100)], 1.0, 1.0),
        ([(35, 50), (5, 20)], 1.0, 1.0),
    ],
)
def test_a_passage_is_found_by_its_whole_title_or_by_half_of_its_characters(evidence, by_title, by_half):
    supporting = [[HERON], [FINCH]]
    assert title_recall(evidence, supporting) == by_title
    assert passage_coverage(evidence, supporting) == by_half


@pytest.mark.parametrize("recall", RECALLS)
def test_any_passage_that_bears_the_title_will_do(recall):
    twin = Passage("Heron", 70, 90)
    assert recall([(70, 90)], [[HERON, twin], [FINCH]]) == 0.5


@pytest.mark.parametrize("recall", RECALLS)
def test_a_supporting_title_that_no_passage_bears_stays_in_the_denominator(recall):
    assert recall([(0, 100)], [[HERON], []]) == 0.5


@pytest.mark.parametrize("recall", RECALLS)
def test_an_empty_passage_is_never_found(recall):
    assert recall([(0, 100)], [[Passage("", 11, 11)]]) == 0.0


@pytest.mark.parametrize("recall", RECALLS)
@given(evidence=spans, more=spans, supporting=groups)
def test_recall_is_in_the_unit_interval_and_more_evidence_never_lowers_it(recall, evidence, more, supporting):
    before, after = recall(evidence, supporting), recall(evidence + more, supporting)
    assert isinstance(before, float)
    assert 0.0 <= before <= after <= 1.0


@pytest.mark.parametrize("recall", RECALLS)
@given(evidence=spans, supporting=groups)
def test_the_order_of_evidence_does_not_matter(recall, evidence, supporting):
    assert recall(evidence, supporting) == recall(evidence[::-1], supporting)


@pytest.mark.parametrize(
    ("admitted", "supporting", "expected"),
    [(["a", "b"], ["a"], 1.0), (["a", "a"], ["a", "b"], 0.5), ([], ["a"], 0.0), (["c"], ["a", "a", "c"], 0.5)],
)
def test_source_recall_counts_each_supporting_source_once(admitted, supporting, expected):
    assert source_recall(admitted, supporting) == expected


def test_recall_without_anything_to_find_is_an_error_and_not_a_number():
    for recall in RECALLS:
        with pytest.raises(ValueError, match="not defined"):
            recall([(0, 1)], [])
    with pytest.raises(ValueError, match="not defined"):
        source_recall(["a"], [])
