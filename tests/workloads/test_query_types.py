"""Queries and references: what a question may be, and that the two stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.workloads.query import MAX_QUESTION, Example, Query, Reference, check_question

COLLECTION = Collection(sources=(Source(source_id="s", text="text"),))


def query(question: str = "Who?", query_id: str = "q") -> Query:
    return Query(query_id=query_id, question=question, collection=COLLECTION, position=1)


def test_a_question_of_just_the_limit_is_accepted_as_it_stands():
    text = " " + "x" * (MAX_QUESTION - 1)
    assert check_question(text) == text
    assert query(text).question == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"empty \(0 characters\).*20,000"),
        (" \n\u2003", r"blank \(3 characters\).*20,000"),
        ("x" * 20_001, r"20,001 characters and the limit is 20,000"),
        ("caf\udce9", r"not valid Unicode at character 3"),
    ],
)
def test_a_question_that_cant_be_asked_says_its_length_and_the_limit_here_and_in_a_query(text, message):
    with pytest.raises(InputError, match=message):
        check_question(text)
    with pytest.raises(InputError, match=message):
        query(text)


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=200))
def test_a_question_is_returned_unchanged_or_refused_for_being_blank(text):
    if text.strip():
        assert check_question(text) == text
    else:
        with pytest.raises(InputError):
            check_question(text)


def test_a_query_has_no_place_for_a_reference():
    assert set(Query.model_fields) & set(Reference.model_fields) == {"query_id"}
    with pytest.raises(ValidationError, match="extra"):
        Query(query_id="q", question="Who?", collection=COLLECTION, position=0, answers=("x",))  # type: ignore[call-arg]


def test_queries_and_references_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        query().question = "Other?"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="frozen"):
        Reference(query_id="q", answers=("x",)).answers = ("y",)  # type: ignore[misc]


def test_an_example_joins_a_query_with_its_own_reference_only():
    assert Example(query=query(), reference=Reference(query_id="q", answers=("x",))).reference.answers == ("x",)
    with pytest.raises(ValidationError, match="'other' is not of query 'q'"):
        Example(query=query(), reference=Reference(query_id="other", answers=("x",)))


def test_a_reference_may_know_no_answer_but_must_say_so():
    assert Reference(query_id="q", answers=()).answers == ()
    with pytest.raises(ValidationError, match="answers"):
        Reference(query_id="q")  # type: ignore[call-arg]
