"""Evidence recall: what counts as found, in which source, and that overlapping evidence is not counted twice."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metrics.answers import normalise
from metrics.evidence import (
    admitted_sources,
    answer_in_evidence,
    covered,
    passage_recall,
    recall_at,
    source_recall,
    title_mention,
    title_recall,
    told,
    told_spans,
)
from tests.metrics.records import a_derived, a_passage, a_summary, an_evidence

HERON = a_passage("Heron", 10, 30)
FINCH = a_passage("Finch", 40, 60)
BY_ADDRESS = [title_recall, passage_recall]
RECALLS = [*BY_ADDRESS, title_mention]

bounds = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: (min(pair), max(pair)))
spans = st.lists(bounds, max_size=6)
sources = st.sampled_from(["birds", "rivers"])
shown = st.builds(lambda source, span: at(*span, source_id=source), sources, bounds)
told_of = st.builds(
    lambda text, regions: a_derived(text, *((source, *span) for source, span in regions)),
    st.text("x", max_size=60),
    st.lists(st.tuples(sources, bounds), min_size=1, max_size=4),
)
items = shown | told_of
passages = st.builds(
    lambda source, span: a_passage("x" * min(3, span[1] - span[0]), *span, source_id=source), sources, bounds
)
groups = st.lists(st.lists(passages, max_size=3), min_size=1, max_size=4)


def at(start, end, source_id="birds"):
    return an_evidence(source_id, start, "x" * (end - start))


@given(bounds, spans)
def test_covered_counts_each_character_once(span, evidence):
    admitted = {place for first, last in evidence for place in range(first, last)}
    assert covered(span, evidence) == len(admitted & set(range(*span)))


@pytest.mark.parametrize(
    ("admitted", "by_title", "by_half"),
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
def test_a_passage_is_found_by_its_whole_title_or_by_half_of_its_characters(admitted, by_title, by_half):
    evidence = [at(start, end) for start, end in admitted]
    assert title_recall(evidence, [[HERON], [FINCH]]) == by_title
    assert passage_recall(evidence, [[HERON], [FINCH]]) == by_half


@pytest.mark.parametrize("recall", BY_ADDRESS)
def test_evidence_of_another_source_does_not_count(recall):
    assert recall([at(0, 100, "rivers")], [[HERON], [FINCH]]) == 0.0
    assert recall([at(0, 100, "rivers"), at(0, 35)], [[HERON], [FINCH]]) == 0.5


@pytest.mark.parametrize("recall", BY_ADDRESS)
def test_a_few_words_on_a_passage_are_not_the_passage(recall):
    assert recall([a_summary("Heron", start=0, end=100)], [[HERON]]) == 0.0
    assert recall([a_summary("Heron", start=0, end=100), at(0, 100)], [[HERON]]) == 1.0


def test_a_summary_shows_no_title_line_however_long_it_is():
    assert title_recall([a_derived("x" * 500, ("birds", 10, 30))], [[HERON]]) == 0.0


@pytest.mark.parametrize(
    ("length", "regions", "found"),
    [
        (10, [("birds", 10, 30)], 1.0),
        (9, [("birds", 10, 30)], 0.0),
        (500, [("birds", 35, 500)], 0.0),
        (20, [("birds", 10, 30), ("rivers", 0, 20)], 1.0),
        (19, [("birds", 10, 30), ("rivers", 0, 20)], 0.0),
        (20, [("birds", 20, 30), ("birds", 100, 110)], 1.0),
        (400, [("birds", 0, 1000)], 0.0),
        (500, [("birds", 0, 1000)], 1.0),
    ],
)
def test_a_summary_stands_for_as_much_of_what_it_names_as_its_length_spread_over_all_of_it(length, regions, found):
    assert passage_recall([a_derived("x" * length, *regions)], [[HERON]]) == found


def test_a_report_that_names_a_whole_collection_finds_none_of_its_passages():
    collection = [a_passage(f"Bird {place}", 100 * place, 100 * place + 100) for place in range(50)]
    report = a_derived("x" * 1000, ("birds", 0, 5000))
    assert passage_recall([report], [[passage] for passage in collection]) == 0.0


def test_what_is_told_adds_to_what_is_shown_and_counts_no_character_twice():
    statement = a_derived("x" * 5, ("birds", 10, 20))
    assert passage_recall([statement], [[HERON]]) == 0.0
    assert passage_recall([at(20, 27)], [[HERON]]) == 0.0
    assert passage_recall([statement, at(20, 27)], [[HERON]]) == 1.0
    assert passage_recall([statement, at(12, 20)], [[HERON]]) == 0.0, "half of two characters is left to be told"


@given(st.lists(items, max_size=6))
def test_no_evidence_is_credited_with_more_characters_than_it_has(evidence):
    credited = sum(told((0, 100), told_spans(evidence).get(source, ())) for source in ("birds", "rivers"))
    assert credited <= sum(len(item.text) for item in evidence) + 1e-6


@given(bounds, st.lists(shown, max_size=6))
def test_source_text_alone_is_told_as_it_is_covered(span, evidence):
    spans = {source: [(first, last) for first, last, _ in some] for source, some in told_spans(evidence).items()}
    for source, some in spans.items():
        assert told(span, told_spans(evidence)[source]) == covered(span, some)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], 0.0),
        (["A Heron stood"], 0.5),
        (["a heron stood"], 0.0),
        (["Fin", "ch"], 0.0),
        (["Heron", "Herons and Finches"], 1.0),
    ],
)
def test_a_title_is_mentioned_where_it_stands_letter_by_letter_in_one_text(texts, expected):
    evidence = [an_evidence("rivers", 500 * i, text) for i, text in enumerate(texts)]
    assert title_mention(evidence, [[HERON], [FINCH]]) == expected


def test_a_summary_can_mention_a_title_and_hold_an_answer():
    evidence = [a_summary("The Heron was built in 1868.")]
    assert title_mention(evidence, [[HERON]]) == 1.0
    assert answer_in_evidence(evidence, ["1868"]) == 1.0


@pytest.mark.parametrize("recall", RECALLS)
def test_any_passage_that_bears_the_title_will_do(recall):
    twin = a_passage("Heron", 70, 90)
    assert recall([an_evidence("birds", 70, "Heron by the river bank")], [[HERON, twin], [FINCH]]) == 0.5


@pytest.mark.parametrize("recall", RECALLS)
def test_a_supporting_title_that_no_passage_bears_stays_in_the_denominator(recall):
    assert recall([an_evidence("birds", 10, "Heron by the river bank")], [[HERON], []]) == 0.5


@pytest.mark.parametrize("recall", RECALLS)
def test_an_empty_passage_is_never_found(recall):
    assert recall([at(0, 100)], [[a_passage("", 11, 11)]]) == 0.0


@pytest.mark.parametrize("recall", RECALLS)
@given(evidence=st.lists(items, max_size=6), more=st.lists(items, max_size=6), supporting=groups)
def test_recall_is_in_the_unit_interval_and_more_evidence_never_lowers_it(recall, evidence, more, supporting):
    before, after = recall(evidence, supporting), recall(evidence + more, supporting)
    assert isinstance(before, float)
    assert 0.0 <= before <= after <= 1.0


@pytest.mark.parametrize("recall", RECALLS)
@given(evidence=st.lists(items, max_size=6), supporting=groups)
def test_the_order_of_evidence_does_not_matter(recall, evidence, supporting):
    assert recall(evidence, supporting) == recall(evidence[::-1], supporting)


@pytest.mark.parametrize(
    ("texts", "references", "expected"),
    [
        (["It opened in 1910."], ["10"], 0.0),
        (["It opened in 1910."], ["1910"], 1.0),
        (["The Brass, the Heron"], ["brass heron"], 1.0),
        (["Brass  \n Heron"], ["The Brass Heron"], 1.0),
        (["Brass-Heron"], ["brass heron"], 0.0),
        (["born in the U.S.A., he"], ["USA"], 1.0),
        (["Brass", "Heron"], ["brass heron"], 0.0),
        (["heron brass"], ["brass heron"], 0.0),
        (["Brasserie; the brass heronry; a Brass Heron"], ["brass heron"], 1.0),
        (["“Heron”"], ["heron"], 1.0),
        (["Ørsted’s law"], ["ørsted"], 1.0),
        (["Ørsteds law"], ["ørsted"], 0.0),
        (["anything"], ["the", "?"], 0.0),
        (["anything", "a finch"], ["heron", "finch"], 1.0),
        ([], ["heron"], 0.0),
    ],
)
def test_an_answer_is_in_the_evidence_when_a_text_holds_it_whole(texts, references, expected):
    evidence = [an_evidence("birds", 500 * i, text) for i, text in enumerate(texts)]
    assert answer_in_evidence(evidence, references) == expected


pieces = st.sampled_from(
    ["the", "a", "The,", "brass", "Brass.", "he-ron", "heron", "herons", "“heron”", "“a”", "x", "é"]
)
joined = st.lists(st.tuples(pieces, st.sampled_from([" ", "  ", "\n", ""])), max_size=8).map(
    lambda parts: "".join(piece + gap for piece, gap in parts)
)


@given(text=joined, reference=joined)
@example(text="the brass a heron", reference="brass heron")
def test_the_short_cut_finds_what_the_definition_finds(text, reference):
    gold = normalise(reference)
    head, tail = (r"(?<!\w)" if gold[:1].isalnum() else ""), (r"(?!\w)" if gold[-1:].isalnum() else "")
    by_definition = bool(gold) and bool(re.search(head + re.escape(gold) + tail, normalise(text)))
    assert answer_in_evidence([an_evidence(text=text)], [reference]) == by_definition


@pytest.mark.parametrize(
    ("admitted", "supporting", "expected"),
    [(["a", "b"], ["a"], 1.0), (["a", "a"], ["a", "b"], 0.5), ([], ["a"], 0.0), (["c"], ["a", "a", "c"], 0.5)],
)
def test_source_recall_counts_each_supporting_source_once(admitted, supporting, expected):
    assert source_recall(admitted, supporting) == expected


@pytest.mark.parametrize(("k", "expected"), [(1, 0.5), (2, 0.5), (3, 1.0), (10, 1.0)])
def test_recall_at_k_looks_at_the_first_k_different_sources(k, expected):
    assert recall_at(["a", "a", "x", "a", "b"], ["b", "a"], k) == expected


@given(st.lists(st.sampled_from("abcde"), max_size=12), st.sets(st.sampled_from("abcde"), min_size=1))
def test_recall_at_k_grows_with_k_up_to_source_recall(admitted, supporting):
    by_depth = [recall_at(admitted, supporting, k) for k in range(6)]
    assert by_depth == sorted(by_depth)
    assert by_depth[0] == 0.0
    assert by_depth[-1] == source_recall(admitted, supporting)


def test_a_source_is_admitted_by_its_own_text_in_evidence_order():
    assert admitted_sources([at(0, 5), at(9, 12), at(0, 5, "banks"), at(5, 9)]) == ["birds", "banks"]


@pytest.mark.parametrize(
    ("regions", "admitted"),
    [
        ([("rivers", 0, 10)], ["rivers"]),
        ([("rivers", 0, 10), ("birds", 0, 9)], ["rivers"]),
        ([("rivers", 0, 10), ("birds", 0, 10)], []),
        ([("rivers", 0, 10), ("birds", 0, 10), ("banks", 0, 10)], []),
        ([("rivers", 0, 10), ("birds", 0, 4), ("birds", 8, 15)], ["birds"]),
    ],
)
def test_a_derived_text_admits_the_source_that_has_most_of_what_it_names(regions, admitted):
    assert admitted_sources([a_derived("Rivers.", *regions)]) == admitted


def test_recall_without_anything_to_find_is_an_error_and_not_a_number():
    for recall in RECALLS:
        with pytest.raises(ValueError, match="not defined"):
            recall([at(0, 1)], [])
    for recall in (source_recall, lambda admitted, supporting: recall_at(admitted, supporting, 5)):
        with pytest.raises(ValueError, match="not defined"):
            recall(["a"], [])
    with pytest.raises(ValueError, match="without reference answers"):
        answer_in_evidence([at(0, 1)], [])
