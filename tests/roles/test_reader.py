"""The two forms of the reader: as the paper asks it, and one that names the records that its answer rests on."""

from __future__ import annotations

import json

import dspy
import pytest

from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger
from programs.roles.reader import CitingReader, Reader, open_reader
from programs.settings import LifecycleSettings
from programs.state import EvidenceRecord
from tests.support.scripted import ScriptedEngine


def record(number, text, region=None):
    return EvidenceRecord(
        evidence_id=f"s#{number}-{number + 1}",
        source_id="s",
        start=number,
        end=number + 1,
        text=text,
        cycle=1,
        region=region,
    )


EVIDENCE = (record(0, "Dome"), record(5, "a lens", "s#4-9"), record(7, "a ferry", "s#4-9"), record(20, "Hall"))


def read(completion, reader=None):
    engine = ScriptedEngine(lambda request: completion)
    ledger = Ledger("q")
    with dspy.context(adapter=TemplateAdapter()), ledger.scope("query", "aux"):
        said = (reader or CitingReader())(
            question="Where is the lens?", evidence=EVIDENCE, lm=LanguageModel(engine), ledger=ledger, max_tokens=64
        )
    return said, engine, ledger


def test_the_records_that_an_answer_names_are_its_citations_all_parts_of_a_region_with_it():
    said, _, _ = read(json.dumps({"records": [2, 1, 2], "answer": " under the dome "}))
    assert said.answer == "under the dome"
    assert said.cited == ("s#5-6", "s#7-8", "s#0-1")


def test_a_number_that_no_record_has_says_nothing():
    said, _, _ = read(json.dumps({"records": [0, 4, -1, 3], "answer": "x"}))
    assert said.cited == ("s#20-21",)


@pytest.mark.parametrize(
    "completion", ["", "the dome", '{"records": [1], "answer": "the', '{"records": [], "answer": "x"}']
)
def test_I3_what_cannot_be_read_is_an_empty_answer_and_is_not_asked_again(completion):
    said, engine, ledger = read(completion)
    assert (said.answer, said.cited) == ("", ())
    assert len(engine.requests) == len(ledger.calls) == 1


def test_I4_the_prompt_is_the_evidence_and_then_the_question_and_nothing_else():
    _, engine, _ = read(json.dumps({"records": [1], "answer": "x"}))
    system, user = engine.requests[0].messages
    assert system.content == CitingReader().answer.signature.instructions
    assert user.content == (
        "Evidence:\n[1] Dome\n\n[2] a lens … a ferry\n\n[3] Hall\n\nQuestion:\nWhere is the lens?\n\n"
        'Output JSON with "records" (numbers of the records needed) and "answer" (shortest answer).'
    )


def test_the_papers_reader_says_what_it_was_told_and_cites_nothing():
    said, _, _ = read(" the dome ", Reader())
    assert (said.answer, said.cited) == ("the dome", ())


def test_the_form_is_a_setting_and_the_papers_unless_told():
    assert type(open_reader(LifecycleSettings())) is Reader
    assert type(open_reader(LifecycleSettings(reader_form="cited"))) is CitingReader
    assert not hasattr(open_reader(LifecycleSettings(answer=False)), "answer")
