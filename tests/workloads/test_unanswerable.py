"""A workload without what its answers need: the passages are gone, and nothing else."""

from __future__ import annotations

import pytest

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import Example, GoldPassage, Query, Reference
from programs.workloads.registry import open_workload
from programs.workloads.unanswerable import without_support

TEXT = "Heron\nA bird.\n\nFerry\nA boat.\n\nDome\nA roof.\n"


def example(**reference):
    sources = (Source(source_id="a", text=TEXT), Source(source_id="b", text="Beta."))
    query = Query(query_id="q", question="What is a heron?", collection=Collection(sources=sources), position=3)
    return Example(query=query, reference=Reference(query_id="q", answers=("a bird",), **reference))


def test_needed_passages_are_cut_out_of_their_source_and_no_answer_is_right():
    passages = [
        GoldPassage(source_id="a", title=title, start=TEXT.index(title), end=end)
        for title, end in (("Heron", 15), ("Dome", len(TEXT)))
    ]
    left = without_support(example(passages=tuple((passage,) for passage in passages), cluster="c"))
    assert left.query.collection.texts == {"a": "Ferry\nA boat.\n\n", "b": "Beta."}
    assert (left.query.question, left.query.position) == ("What is a heron?", 3)
    assert (left.reference.answers, left.reference.answerable, left.reference.cluster) == ((), False, "c")


def test_where_sources_are_needed_whole_they_are_gone_whole():
    assert set(without_support(example(supporting=("b",))).query.collection.texts) == {"a"}


def test_a_question_that_nobody_knows_the_needs_of_is_refused():
    with pytest.raises(InputError, match="nobody says which passages"):
        without_support(example())


def test_every_workload_has_it_by_its_name():
    found = open_workload("sample/unanswerable", None, "dev")
    whole = open_workload("sample", None, "dev")
    assert found.name == "sample/unanswerable"
    assert [e.query.question for e in found.examples] == [e.query.question for e in whole.examples]
    for with_it, without in zip(whole.examples, found.examples, strict=True):
        gone = set(with_it.query.collection.texts) - set(without.query.collection.texts)
        assert gone == set(with_it.reference.supporting)
        assert not without.reference.answerable
