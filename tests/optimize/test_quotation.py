"""An instruction that quotes development questions, answers or ids is found out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.prompts.quotation import QuotationCheck
from programs.workloads.query import Example, GoldPassage, Query, Reference
from tests.support.worlds import make_collection

COLLECTION = make_collection(sources=1)


def example(question="Who rowed the ferry to Ost?", answers=("Ada Quill",), query_id="8f3a01"):
    query = Query(query_id=query_id, question=question, collection=COLLECTION, position=0)
    ferry = GoldPassage(source_id="note-0.md", title="The Ost Ferry", start=0, end=9)
    reference = Reference(query_id=query_id, answers=answers, passages=((ferry,),), supporting=("note-0.md",))
    return Example(query=query, reference=reference)


@pytest.mark.parametrize(
    "text",
    [
        "Remember that Ada Quill rowed.",
        "remember that ADA  QUILL, rowed.",
        "For 8f3a01 do as before.",
        "Always look at the Ost ferry.",
        "Open note-0.md first.",
        "When asked 'who rowed the ferry to Ost', look twice.",
    ],
)
def test_a_quoted_answer_title_source_id_or_question_is_found_whatever_its_case_and_punctuation(text):
    assert QuotationCheck([example()], []).find(text)


@pytest.mark.parametrize("text", ["Read twice.", "Look for who rowed.", "Ada is a name.", "Adaquill"])
def test_what_is_not_quoted_whole_is_not_found(text):
    assert QuotationCheck([example()], []).find(text) is None


@pytest.mark.parametrize("answer", ["yes", "no", "12", "Unanswerable", "two", "", "???"])
def test_short_and_common_answers_stand_in_any_instruction(answer):
    assert (
        QuotationCheck([example(answers=(answer,))], []).find("Answer yes or no, two or 12, or unanswerable ???")
        is None
    )


def test_what_the_start_says_already_is_no_quotation():
    evidence = [example(answers=("evidence",))]
    assert QuotationCheck(evidence, ["Use only the evidence below."]).find("Read the evidence.") is None
    assert QuotationCheck(evidence, ["Use only what is below."]).find("Read the evidence.") == "evidence"


@given(st.text(min_size=8, max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_an_answer_is_found_wherever_it_stands_between_spaces(answer, before, after):
    found = QuotationCheck([example(answers=(answer,), question="Is it so or not?")], [])
    letters = sum(map(str.isalnum, answer))
    if found.find(answer):
        assert found.find(f"{before} . {answer} . {after}")
    assert letters >= 4 or not found.find(answer)
