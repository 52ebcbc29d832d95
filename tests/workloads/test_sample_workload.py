"""The sample: what makes its questions worth asking of a small model."""

import itertools
from collections import Counter

import pytest

from metrics.answers import normalise
from programs.workloads.sample import load_sample

SAMPLE = load_sample()
EXAMPLES = [pytest.param(example, id=example.query.query_id) for example in SAMPLE.examples]


def test_it_has_a_dozen_documents_of_70_to_120_words_in_the_order_of_their_numbers():
    ids = [source.source_id for source in SAMPLE.collection.each()]
    assert [name[:3] for name in ids] == [f"{n:02d}-" for n in range(1, 13)]
    lengths = {source.source_id: len(source.text.split()) for source in SAMPLE.collection.each()}
    assert {name: n for name, n in lengths.items() if not 70 <= n <= 120} == {}


def test_it_asks_five_bridge_questions_a_comparison_and_a_single_hop():
    kinds = Counter((e.reference.question_type, len(e.reference.supporting)) for e in SAMPLE.examples)
    assert kinds == {("bridge", 2): 5, ("comparison", 2): 1, ("single", 1): 1}


def test_queries_share_the_one_collection_and_are_numbered_from_zero():
    assert [q.position for q in SAMPLE.queries] == list(range(7))
    assert all(q.collection is SAMPLE.collection for q in SAMPLE.queries)
    assert len({q.query_id for q in SAMPLE.queries}) == 7


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_answer_stands_verbatim_in_the_last_supporting_document(example):
    last = SAMPLE.collection.texts[example.reference.supporting[-1]]
    assert all(answer in last for answer in example.reference.answers)


@pytest.mark.parametrize("example", [p for p in EXAMPLES if p.values[0].reference.question_type != "comparison"])
def test_an_answer_is_not_in_its_question(example):
    question = normalise(example.query.question)
    assert not [answer for answer in example.reference.answers if normalise(answer) in question]


@pytest.mark.parametrize("example", EXAMPLES)
def test_supporting_sources_are_sources_of_the_collection(example):
    assert set(example.reference.supporting) <= set(SAMPLE.collection.texts)


@pytest.mark.parametrize("example", [p for p in EXAMPLES if p.values[0].reference.question_type == "bridge"])
def test_a_bridge_leads_from_one_supporting_document_to_the_title_of_the_next(example):
    texts = SAMPLE.collection.texts
    hops = example.reference.supporting
    for here, after in itertools.pairwise(hops):
        title = texts[after].splitlines()[0].removeprefix("# ")
        assert title in texts[here]
        assert title not in example.query.question
