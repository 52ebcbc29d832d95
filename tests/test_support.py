"""Whether an answer stands on its evidence: told from the evidence alone, with the sentences where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.record import Derived, EvidenceRecord, SupportStatus
from programs.contract import evidence_id
from programs.settings import SupportSettings
from programs.state import Address
from programs.support import SIGNS, judge, read, sentences_of
from tests.support.scripted import OverlapCrossEncoder

TEXT = "Starrow Hill\nThe dome was built by Ysolde Marrane. It burned in 1868. Nobody was hurt."
SETTINGS = SupportSettings(judge=True, weights={"sentence": 6.0, "names": 4.0}, bias=-6.0)
SCORER = OverlapCrossEncoder()


def record(text=TEXT, source="a.md", start=0, **changes):
    end = start + len(text)
    return EvidenceRecord(
        **{"evidence_id": evidence_id(source, start, end), "source_id": source, "start": start, "end": end}
        | {"text": text, "cycle": 1}
        | changes
    )


def told(question, answer, *evidence):
    return judge(question, answer, evidence or (record(),), SCORER, SETTINGS)


def test_an_answer_that_a_bearing_sentence_holds_is_supported_and_the_sentence_is_quoted_first():
    found = told("Who was the dome of Starrow Hill built by?", "Ysolde Marrane")
    assert found.status is SupportStatus.SUPPORTED
    first = found.quotes[0]
    assert TEXT[first.start : first.end] == "The dome was built by Ysolde Marrane."
    assert found.missing == ()


def test_an_answer_that_no_sentence_holds_is_unsupported_however_much_bears_on_the_question():
    assert told("Who was the dome of Starrow Hill built by?", "Corvin Haldegast").status is SupportStatus.UNSUPPORTED


def test_what_the_evidence_does_not_speak_of_is_not_found_and_the_names_that_it_lacks_are_told():
    found = told("What did Ferdinand Lasker pay for the ferry?", "EUR 72,000")
    assert found.status is SupportStatus.NOT_FOUND
    assert found.missing == ("Ferdinand Lasker",)
    assert len(found.quotes) == 1  # the nearest sentence of each record


@pytest.mark.parametrize("answer", ["", "  ", "The."])
def test_no_answer_is_not_found(answer):
    assert told("Who was the dome of Starrow Hill built by?", answer).status is SupportStatus.NOT_FOUND


def test_a_plain_yes_needs_no_sentence_that_says_yes():
    assert told("Was the dome of Starrow Hill built by Ysolde Marrane?", "Yes").status is SupportStatus.SUPPORTED


def test_a_text_that_a_model_wrote_holds_nothing_up():
    written = record(derived=Derived(kind="summary", regions=(Address(source_id="a.md", start=0, end=5),)))
    found = told("Who was the dome of Starrow Hill built by?", "Ysolde Marrane", written)
    assert found.status is SupportStatus.NOT_FOUND
    assert found.quotes == ()


def test_an_answer_is_held_as_words_and_not_as_letters():
    signs = read("When did it burn?", "868", [record()], SCORER).signs
    assert signs["holds"] == 0.0
    assert read("When did it burn?", "1868", [record()], SCORER).signs["holds"] == 1.0


@given(st.text(max_size=200), st.integers(0, 50))
def test_sentences_are_the_sources_characters_at_their_offsets(text, start):
    source = "x" * start + text
    for sentence in sentences_of(record(text, start=start), "") if text else ():
        assert source[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""


@given(st.text(max_size=40), st.text(max_size=20), st.lists(st.text(min_size=1, max_size=60), max_size=3))
def test_every_sign_is_a_share_whatever_is_said(question, answer, texts):
    evidence = [record(text, source=f"s{i}") for i, text in enumerate(texts)]
    signs = read(question, answer, evidence, SCORER).signs
    assert set(signs) == set(SIGNS)
    assert all(0.0 <= value <= 1.0 for value in signs.values())
    found = judge(question, answer, evidence, SCORER, SETTINGS)
    assert {quote.evidence_id for quote in found.quotes} <= {item.evidence_id for item in evidence}


def test_the_sentence_that_the_reader_named_is_quoted_before_others_that_hold_the_answer():
    near = record("The dome of Starrow Hill was built by Ysolde Marrane.", "a.md")
    named = record("Ysolde Marrane never saw it.", "b.md")
    question = "Who was the dome of Starrow Hill built by?"
    found = judge(question, "Ysolde Marrane", (near, named), SCORER, SETTINGS, [named.evidence_id])
    assert [quote.source_id for quote in found.quotes] == ["b.md", "a.md"]
    assert found.cited is True


@pytest.mark.parametrize(("answer", "told"), [("Ysolde Marrane", False), ("Yes", None), ("", None)])
def test_what_the_reader_named_is_held_against_its_answer_where_it_can_be(answer, told):
    holds, other = record(), record("Sheep graze on the hill.", "b.md")
    named = [other.evidence_id]
    assert judge("Who built the dome?", answer, (holds, other), SCORER, SETTINGS, named).cited is told
    assert judge("Who built the dome?", answer, (holds, other), SCORER, SETTINGS).cited is None
