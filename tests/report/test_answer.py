"""An answer on a terminal: what can be said of it comes first, then the sentences that it rests on."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from metrics.record import Action, Quote, Support, SupportStatus
from programs.report.answer import is_not_found, print_answer
from tests.metrics.records import a_record, an_evidence, an_incomplete_record

TEXT = "Birds\nThe heron is grey.\nThe Brass Heron is a telescope. It was built in 1873."
SENTENCE = "The Brass Heron is a telescope."
OTHER = "A ferry."
SOURCES = {"birds.md": TEXT, "ferries.md": OTHER}


def supported(status, quotes=None, missing=()):
    start = TEXT.index(SENTENCE)
    quote = Quote(
        evidence_id="birds.md#0-80", source_id="birds.md", start=start, end=start + len(SENTENCE), relevance=0.9
    )
    evidence = [
        an_evidence("birds.md", 0, TEXT, evidence_id="birds.md#0-80"),
        an_evidence("ferries.md", 0, OTHER),
    ]
    support = Support(status=status, probability=0.4, quotes=(quote,) if quotes is None else quotes, missing=missing)
    return a_record(answer="the Brass Heron", evidence=evidence, support=support)


def shown(record, width=100, **options):
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=options.pop("colour", False))
    print_answer(record, console, SOURCES, **options)
    return file.getvalue()


def test_an_answer_comes_with_the_sentence_that_it_rests_on_and_its_line():
    text = shown(supported(SupportStatus.SUPPORTED))
    assert "Answer    the Brass Heron" in text
    assert "It rests on:" in text
    assert "birds.md, line 3" in text
    assert SENTENCE in text
    assert "1873" not in text  # the rest of the record is folded away
    assert "1 more record was read; --full shows everything" in text
    assert "RELEASE after 1 cycle: enough was found" in text


def test_the_answer_is_marked_in_the_sentence():
    marked = shown(supported(SupportStatus.SUPPORTED), colour=True)
    assert "\x1b[1;32mThe Brass Heron\x1b[0m is a telescope" in marked


def test_what_was_not_found_is_said_first_with_what_is_missing_and_the_nearest_passages():
    lines = shown(supported(SupportStatus.NOT_FOUND, missing=("Odile Tarn",))).splitlines()
    assert lines[1] == "Not found in these documents: nothing about Odile Tarn"
    assert lines[2] == "What comes nearest:"
    assert "Answer" not in "".join(lines)
    assert "A guess would be: the Brass Heron" in "\n".join(lines)


def test_a_best_guess_is_given_when_asked_for_and_called_one():
    text = shown(supported(SupportStatus.NOT_FOUND), best_guess=True)
    assert "Answer    the Brass Heron" in text
    assert "A guess: these documents do not seem to say it" in text


def test_an_answer_that_no_sentence_holds_is_called_unsupported():
    assert "Unsupported: no sentence holds this answer" in shown(supported(SupportStatus.UNSUPPORTED))


def test_full_shows_every_record_and_verbose_what_it_took():
    text = shown(supported(SupportStatus.SUPPORTED), full=True, verbose=True)
    assert "It was built in 1873." in text
    assert OTHER in text
    assert "committed in cycle 1" in text
    assert "4 model calls" in text
    assert "RET" not in shown(supported(SupportStatus.SUPPORTED), full=True)


@pytest.mark.parametrize(
    ("action", "words"),
    [("FALLBACK", "not enough was found, so this is the best guess"), ("BYPASS", "short enough to be read whole")],
)
def test_each_action_is_said_in_plain_words(action, words):
    record = supported(SupportStatus.SUPPORTED).model_copy(update={"action": Action(action)})
    assert f"{action} after 1 cycle: " in shown(record)
    assert words in shown(record)


def test_an_incomplete_query_says_why():
    assert "planner's plan was rejected in cycle 1 (malformed)" in shown(an_incomplete_record())


def test_a_record_that_nothing_judged_lists_what_was_read():
    text = shown(a_record(evidence=[an_evidence("birds.md", 0, TEXT)]))
    assert "[1] birds.md, line 1" in text
    assert "The heron is grey." in text


def test_only_a_judgement_makes_an_answer_not_found():
    assert is_not_found(supported(SupportStatus.NOT_FOUND))
    assert not is_not_found(supported(SupportStatus.UNSUPPORTED))
    assert not is_not_found(a_record())
    assert not is_not_found(an_incomplete_record())


@pytest.mark.parametrize("width", [40, 80, 120])
def test_nothing_is_wider_than_the_terminal(width):
    assert max(map(len, shown(supported(SupportStatus.SUPPORTED), width=width, full=True).splitlines())) <= width
