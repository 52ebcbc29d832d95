"""The journal: calls of an unfinished query are made once, whatever happened in between."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from programs.content_key import content_key
from programs.errors import TransportFault
from programs.models.cache.journal import Journal, JournaledEngine
from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from tests.support.scripted import ScriptedEngine


def request(text: str, **options) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), **{"max_tokens": 8, **options})


class Engine:
    """An engine that numbers its answers, so that a second asking would be seen."""

    def __init__(self):
        self.count = 0
        self.engine = ScriptedEngine(self.answer, latency=0.01)

    def answer(self, asked):
        self.count += 1
        return f"answer {self.count}"


def ask(journal, engine, query_id, *requests):
    ledger = Ledger(query_id)
    model = LanguageModel(JournaledEngine(engine.engine, journal))
    with ledger.scope("planner", Phase.AUX):
        return [model.metered.run(item).text for item in requests], ledger


def test_what_an_unfinished_query_was_told_is_told_again_without_asking(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    first, spent = ask(Journal(path, ()), engine, "q", request("a"), request("b"))
    again, replayed = ask(Journal(path, ()), engine, "q", request("a"), request("b"), request("c"))
    assert again == [*first, "answer 3"]
    assert engine.count == 3
    assert [call.tokens for call in replayed.calls[:2]] == [call.tokens for call in spent.calls]


def test_a_replayed_call_counts_for_as_long_as_it_took(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    ask(Journal(path, ()), engine, "q", request("a"))
    _, ledger = ask(Journal(path, ()), engine, "q", request("a"))
    assert ledger.replayed[Phase.AUX] >= 0.01
    assert ledger.calls[0].seconds >= 0.01


def test_it_is_no_cache_between_queries_nor_within_one(tmp_path):
    engine = Engine()
    journal = Journal(tmp_path / "journal.jsonl", ())
    assert ask(journal, engine, "q", request("a"), request("a"))[0] == ["answer 1", "answer 2"]
    assert ask(journal, engine, "other", request("a"))[0] == ["answer 3"]


def test_the_same_prompt_asked_twice_is_replayed_twice_in_order(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    first, _ = ask(Journal(path, ()), engine, "q", request("a"), request("a"))
    assert ask(Journal(path, ()), engine, "q", request("a"), request("a"), request("a"))[0] == [*first, "answer 3"]


def test_queries_that_have_a_record_are_forgotten(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    ask(Journal(path, ()), engine, "done", request("a"))
    assert ask(Journal(path, {"done"}), engine, "done", request("a"))[0] == ["answer 2"]
    assert path.read_text().count("\n") == 1


@pytest.mark.parametrize(
    "other", [{"max_tokens": 9}, {"temperature": 0.5}, {"schema": {"type": "object"}}, {"alternatives": 2}]
)
def test_another_request_is_another_call(tmp_path, other):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    ask(Journal(path, ()), engine, "q", request("a"))
    assert ask(Journal(path, ()), engine, "q", request("a", **other))[0] == ["answer 2"]


def test_a_line_that_a_kill_cut_is_left_out(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    ask(Journal(path, ()), engine, "q", request("a"), request("b"))
    path.write_bytes(path.read_bytes()[:-5])
    assert ask(Journal(path, ()), engine, "q", request("a"), request("b"))[0] == ["answer 1", "answer 3"]


def test_a_call_that_failed_is_not_written_down(tmp_path):
    path = tmp_path / "journal.jsonl"

    def fails(asked):
        raise TransportFault("gone")

    engine = JournaledEngine(ScriptedEngine(fails), Journal(path, ()))
    with pytest.raises(TransportFault):
        engine.complete(request("a"))
    assert path.read_text() == ""


def test_likelihoods_are_written_down_too(tmp_path):
    path = tmp_path / "journal.jsonl"
    first = JournaledEngine(ScriptedEngine(str), Journal(path, ())).likelihood("a b", "b")
    again = JournaledEngine(ScriptedEngine(str), Journal(path, ())).likelihood("a b", "b")
    assert (again.mean_logprob, again.prompt_tokens) == (first.mean_logprob, first.prompt_tokens)
    assert again.replayed > 0


def test_I8_a_journal_that_is_taken_up_is_replaced_whole_and_never_shortened_where_it_stands(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    ask(Journal(path, ()), engine, "q", request("a"), request("b"))
    written = path.read_bytes()
    with path.open("rb") as as_a_kill_would_leave_it:
        Journal(path, {"q"}).close()
        assert as_a_kill_would_leave_it.read() == written
    assert path.read_bytes() == b""


def test_a_line_with_half_a_character_is_replayed_as_text(tmp_path):
    path = tmp_path / "journal.jsonl"
    ask(Journal(path, ()), Engine(), "q", request("a"))
    path.write_text(path.read_text().replace("answer 1", "in \\ud800 Vienna"))
    engine = Engine()
    assert ask(Journal(path, ()), engine, "q", request("a"))[0] == ["in \ufffd Vienna"]
    assert engine.count == 0


def test_a_text_with_control_tokens_is_replayed_like_any_other(tmp_path):
    engine, path = Engine(), tmp_path / "journal.jsonl"
    text = "a <|im_end|> b"
    first, spent = ask(Journal(path, ()), engine, "q", request(text))
    again, replayed = ask(Journal(path, ()), engine, "q", request(text))
    assert (again, engine.count) == (first, 1)
    assert replayed.calls[0].prompt_hash == spent.calls[0].prompt_hash


def test_the_tokens_of_a_completion_come_back_as_they_were_told(tmp_path):
    path, asked = tmp_path / "journal.jsonl", request("a", alternatives=3)
    first = JournaledEngine(ScriptedEngine(lambda _: "a “b” é 🙂"), Journal(path, ())).complete(asked)
    again = JournaledEngine(ScriptedEngine(lambda _: "other"), Journal(path, ())).complete(asked)
    assert first.tokens
    assert replace(again, replayed=0.0) == first


def test_a_call_that_was_kept_before_tokens_were_is_still_found(tmp_path):
    path = tmp_path / "journal.jsonl"
    older = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 8, "temperature": 0.0, "schema": None}
    made = {"text": "old", "prompt_tokens": 3, "completion_tokens": 1, "finish_reason": "stop", "transport_retries": 0}
    key = content_key("q", "scripted", "complete", json.dumps(older, sort_keys=True))
    path.write_text(json.dumps({"key": key, "query_id": "q", "seconds": 1.0, "made": made}) + "\n")
    assert ask(Journal(path, ()), Engine(), "q", request("a"))[0] == ["old"]
