"""Kept completions: what was asked before is not asked again, and nobody can tell by the ledger."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import TransportFault
from programs.models.cache.completions import CachedEngine, Completions, kept
from programs.models.engines.engine import ChatMessage, ChatRequest, Completion
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from tests.support.runs import scripted_runtime
from tests.support.scripted import ScriptedEngine

processes = multiprocessing.get_context("forkserver")


def request(text: str, **options) -> ChatRequest:
    return ChatRequest((ChatMessage("user", text),), **{"max_tokens": 8, **options})


class Engine:
    """An engine that numbers its answers, so that a second asking would be seen."""

    def __init__(self, model="scripted"):
        self.count = 0
        self.engine = ScriptedEngine(self.answer, model, latency=0.01)

    def answer(self, asked):
        self.count += 1
        return f"answer {self.count}"


def ask(path, engine, *requests):
    """Ask in a query of its own, over the file as a new process would open it."""
    ledger = Ledger("q")
    completions = Completions(path)
    model = LanguageModel(CachedEngine(engine.engine, completions))
    with ledger.scope("planner", Phase.AUX):
        said = [model.metered.run(item).text for item in requests]
    completions.close()
    return said, ledger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "completions.sqlite"


def test_what_was_asked_before_is_answered_from_the_file(path):
    engine = Engine()
    first, _ = ask(path, engine, request("a"), request("b"), request("a"))
    assert first == ["answer 1", "answer 2", "answer 1"]
    assert ask(path, engine, request("b"), request("c"))[0] == ["answer 2", "answer 3"]


def test_a_kept_call_stands_in_the_ledger_with_the_tokens_and_seconds_of_when_it_was_made(path):
    engine = Engine()
    _, made = ask(path, engine, request("a question of several words"))
    _, again = ask(path, engine, request("a question of several words"))
    assert [(c.prompt_tokens, c.completion_tokens, c.finish_reason) for c in again.calls] == [
        (c.prompt_tokens, c.completion_tokens, c.finish_reason) for c in made.calls
    ]
    assert made.replayed[Phase.AUX] == 0
    assert again.replayed[Phase.AUX] >= 0.01
    assert again.calls[0].seconds >= 0.01


@pytest.mark.parametrize(
    "other", [{"max_tokens": 9}, {"schema": {"type": "object"}}, {"temperature": 0.5}, {"temperature": 1.0}]
)
def test_another_request_is_another_call(path, other):
    engine = Engine()
    ask(path, engine, request("a"))
    assert ask(path, engine, request("a", **other))[0] == ["answer 2"]


def test_what_a_model_drew_by_chance_is_not_kept(path):
    engine = Engine()
    warm = request("a", temperature=0.7)
    assert ask(path, engine, warm, warm)[0] == ["answer 1", "answer 2"]
    assert ask(path, engine, warm)[0] == ["answer 3"]


def test_another_model_is_asked_for_itself(path):
    ask(path, Engine("small"), request("a"))
    large = Engine("large")
    ask(path, large, request("a"))
    assert large.count == 1


def test_likelihoods_are_kept_too(path):
    engine = ScriptedEngine(str)
    first = CachedEngine(engine, Completions(path)).likelihood("a b", "b")
    again = CachedEngine(engine, Completions(path)).likelihood("a b", "b")
    other = CachedEngine(engine, Completions(path)).likelihood("a", "b b")
    assert (again.mean_logprob, again.prompt_tokens) == (first.mean_logprob, first.prompt_tokens)
    assert again.replayed > 0
    assert other.replayed == 0


def test_half_a_character_that_was_kept_is_given_as_text(path):
    completions = Completions(path)

    def answered():
        made = Completion("", 3, 2, "stop")
        object.__setattr__(made, "text", "in \ud800 Vienna")  # as a file of an earlier version may hold it
        return made

    completions.resolve(Completion, b"k" * 32, answered)
    assert completions.resolve(Completion, b"k" * 32, answered).text == "in \ufffd Vienna"


def test_a_call_that_failed_is_not_kept(path):
    faults = [TransportFault("gone")]

    def fails_once(asked):
        if faults:
            raise faults.pop()
        return "back again"

    engine = CachedEngine(ScriptedEngine(fails_once), Completions(path))
    with pytest.raises(TransportFault):
        engine.complete(request("a"))
    assert engine.complete(request("a")).text == "back again"


def test_of_many_threads_that_want_one_answer_one_asks(path):
    asked = []
    gate = threading.Barrier(8)

    def slow(item):
        asked.append(item)
        time.sleep(0.05)
        return f"answer {len(asked)}"

    engine = CachedEngine(ScriptedEngine(slow), Completions(path))

    def wants(_):
        gate.wait()
        return engine.complete(request("a")).text

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(wants, range(8))) == {"answer 1"}
    assert len(asked) == 1


def ask_and_die(path, texts):
    ask(path, Engine(), *(request(text) for text in texts[:-1]))
    engine = CachedEngine(Engine().engine, Completions(path))
    engine.complete(request(texts[-1]))
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_loses_nothing_that_was_answered(path):
    process = processes.Process(target=ask_and_die, args=(path, ["a", "b", "c"]))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    engine = Engine()
    ask(path, engine, request("a"), request("b"), request("c"))
    assert engine.count == 0


def ask_many(path, words):
    ask(path, Engine(), *(request(word) for word in words))


def test_several_processes_may_write_at_once(path):
    everyone = [[f"{who} {number % 20}" for number in range(30)] for who in "abc"]
    running = [processes.Process(target=ask_many, args=(path, words)) for words in everyone]
    for process in running:
        process.start()
    for process in running:
        process.join()
    engine = Engine()
    ask(path, engine, *(request(word) for words in everyone for word in words))
    assert engine.count == 0


def test_a_runtime_whose_models_are_one_still_has_one_and_closing_leaves_the_lenders_open(path):
    runtime = scripted_runtime()
    lent = kept(runtime, path)
    assert lent.reader is lent.auxiliary
    assert (lent.settings, lent.encoder, lent.cross_encoder) == (
        runtime.settings,
        runtime.encoder,
        runtime.cross_encoder,
    )
    lent.close()
    assert runtime.reader.engine.complete(request("a")).text


def test_two_models_of_a_runtime_are_kept_apart(path):
    small, large = Engine("small"), Engine("large")
    runtime = scripted_runtime()
    runtime = type(runtime)(
        runtime.settings,
        LanguageModel(large.engine),
        LanguageModel(small.engine),
        runtime.encoder,
        runtime.cross_encoder,
    )
    lent = kept(runtime, path)
    assert lent.reader is not lent.auxiliary
    lent.reader.metered.run(request("a"))
    lent.auxiliary.metered.run(request("a"))
    lent.auxiliary.metered.run(request("a"))
    assert (large.count, small.count) == (1, 1)


def test_a_damaged_file_is_put_aside_and_the_model_asked_again(path):
    ask(path, Engine(), request("a"))
    path.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    engine = Engine()
    with pytest.warns(UserWarning, match="put aside"):
        ask(path, engine, request("a"))
    assert engine.count == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=5), st.integers(1, 3)), max_size=12))
def test_keeping_changes_no_answer_of_a_model_that_answers_by_the_prompt(tmp_path_factory, asked):
    plain = ScriptedEngine(lambda item: f"{item.messages[0].content[::-1]} end of it")
    engine = CachedEngine(plain, Completions(tmp_path_factory.mktemp("kept") / "c.sqlite"))
    for text, most in asked:
        item = request(text, max_tokens=most)
        answer, truth = engine.complete(item), plain.complete(item)
        assert (answer.text, answer.prompt_tokens, answer.completion_tokens, answer.finish_reason) == (
            truth.text,
            truth.prompt_tokens,
            truth.completion_tokens,
            truth.finish_reason,
        )


def test_the_tokens_of_a_completion_are_kept_and_a_request_without_them_is_another_call(path):
    engine = Engine()
    asked = request("a", alternatives=2)
    first = CachedEngine(engine.engine, Completions(path)).complete(asked)
    again = CachedEngine(engine.engine, Completions(path)).complete(asked)
    plain = CachedEngine(engine.engine, Completions(path)).complete(request("a"))
    assert first.tokens
    assert replace(again, replayed=0.0) == first
    assert (plain.tokens, engine.count) == ((), 2)
