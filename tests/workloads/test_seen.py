"""What a selection saw, by hashes that small changes of a text do not change."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from programs.documents.collection import Collection, Source
from programs.workloads import hashes as seen
from programs.workloads.hashes import SeenHashes, letters, seen_of, text_hash
from programs.workloads.query import Query

WORDS = st.text(st.characters(codec="utf-8"), max_size=30)
FILLING = st.text(st.sampled_from(" \t\r\n.,;:!?-_'\"()[]/\u00a0\u200b\u2014\u2026"), max_size=3)


def ask(name, question, *texts):
    sources = tuple(Source(source_id=f"s{i}", text=text) for i, text in enumerate(texts))
    return Query(query_id=name, question=question, collection=Collection(sources=sources), position=0)


@given(WORDS, st.lists(FILLING, min_size=30, max_size=30))
def test_spaces_and_case_do_not_make_another_text(text, filling):
    kept = letters(text)
    assert letters(f" {text}…") == kept
    if not any(unicodedata.combining(character) for character in unicodedata.normalize("NFKD", text)):
        # an accent of its own goes with the letter before it, so nothing may come between
        assert letters("".join(a + b for a, b in zip(filling, text, strict=False))) == kept
        assert letters(text.casefold()) == kept
        assert letters(kept) == kept


@given(WORDS)
def test_nothing_but_letters_and_digits_is_left(text):
    assert all(character.isalnum() for character in letters(text))


def test_forms_of_one_letter_are_one():
    assert letters("Ｗｈｏ ﬁnds Café") == letters("who finds cafe\u0301") == "whofindscafé"
    assert letters("STRASSE") == letters("straße")


def test_other_words_are_another_text():
    assert text_hash("Who keeps the light?") != text_hash("Who keeps the lights?")
    assert text_hash("?") != text_hash("!")


def test_what_was_seen_is_met_by_its_question_or_by_one_of_its_sources():
    saw = seen_of([ask("a", "Who sails?", "Ida sails.", "The tide is high."), ask("b", "Who sings?", "Bo sings.")])
    met = [
        ask("same question", "WHO  sails", "another text"),
        ask("one source", "Who waits?", "nobody", "the tide\nis high"),
        ask("neither", "Who waits?", "nobody"),
    ]
    assert saw.meets(met) == ["same question", "one source"]
    parted = saw.met(seen.hashed(met))
    assert (parted.questions, parted.sources) == (("same question",), ("one source",))
    assert SeenHashes().meets(met) == []


def test_blank_sources_are_nothing_that_was_seen():
    saw = seen_of([ask("a", "Who sails?", " \n", "Ida sails.")])
    assert saw.meets([ask("b", "Who sings?", "\t", "Bo sings.")]) == []
    assert len(saw.sources) == 1


def test_a_question_that_two_queries_ask_counts_twice_and_merging_with_itself_adds_nothing():
    saw = seen_of([ask("a", "Which data?", "One paper."), ask("b", "which data", "Another paper.")])
    assert len(saw.questions) == 2
    assert saw.merge(saw) == saw
    more = saw.merge(seen_of([ask("c", "Which data?", "A third.")]))
    assert (len(more.questions), len(more.sources)) == (2, 3)


HASHES = st.lists(st.from_regex(r"[0-9a-f]{16}", fullmatch=True), max_size=5)


@given(HASHES, HASHES)
def test_it_is_written_as_two_texts_and_read_back_the_same(questions, sources):
    saw = SeenHashes(questions=questions, sources=sources)
    assert list(saw.questions) == sorted(questions)
    assert '"questions":"' in saw.model_dump_json()
    assert SeenHashes.model_validate_json(saw.model_dump_json()) == saw
    assert SeenHashes.model_validate(saw.model_dump(mode="json")) == saw


def test_the_sources_of_a_collection_are_hashed_once_for_all_its_questions(monkeypatch):
    hashed = []
    monkeypatch.setattr(seen, "letters", lambda text: hashed.append(text) or letters(text))
    corpus = Collection(sources=tuple(Source(source_id=str(i), text=f"text {i}") for i in range(50)))
    queries = [Query(query_id=f"q{i}", question=f"Which {i}?", collection=corpus, position=i) for i in range(20)]
    assert len(seen_of(queries).sources) == 50
    assert len(hashed) == 50 + 20
