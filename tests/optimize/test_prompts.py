"""A search for prompts as a person meets it: what it writes, what it refuses, and how it goes on after a kill."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from functools import partial

import pytest
from typer.testing import CliRunner

from optimize.prompts import __main__ as prompts
from optimize.prompts.gepa import BARREN
from programs.selection.compiled import Compiled, Prompt, read_compiled, write_compiled
from programs.selection.configured import ConfiguredMethod
from tests.optimize import killable_prompts
from tests.optimize.prompt_world import (
    MAGIC,
    READS,
    answers_with_the_word,
    instruction_of,
    make_runtime,
    settings_for,
    slowly_better,
)
from tests.support.dying import Killed, dying
from tests.support.questions import write_own_questions

runner = CliRunner()
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.optimize.killable_prompts"])


@pytest.fixture
def asked(monkeypatch):
    """Open a scripted model where the command line would load a real one, and keep what it is asked."""
    requests = []

    def script(request):
        requests.append(request)
        return answers_with_the_word(request)

    monkeypatch.setattr(prompts, "open_models", lambda settings: make_runtime(script, settings_for_command(settings)))
    return requests


def settings_for_command(settings):
    """Keep what the command line said, with models that need no weights."""
    scripted = settings_for().model_dump()
    tree = settings.model_dump()
    return type(settings).model_validate(tree | {part: scripted[part] for part in ("encoder", "cross_encoder")})


@pytest.fixture
def questions(tmp_path):
    """A file of a person's own questions with their contexts."""
    asked = [(f"Which harbour has pier number {i}?", f"Port Number {i}") for i in range(10)]
    return write_own_questions(tmp_path, asked)


def choose(folder, questions, *arguments, method="vanilla", optimizer="gepa", budget=40):
    common = ("--method", method, "--workload", "own", "--questions", questions, "--preset", "tiny")
    where = ("--out", folder / "chosen.json", "--search", folder / "search")
    search = ("--optimizer", optimizer, "--budget", budget, "--reader", "--quality", "em")
    return runner.invoke(prompts.app, [*map(str, (*common, *where, *search, *arguments))])


def chosen_in(folder, method="vanilla"):
    return read_compiled(folder / "chosen.json", method)


def test_a_search_writes_a_compiled_file_that_says_how_it_was_chosen_and_runs(asked, questions, tmp_path):
    result = choose(tmp_path, questions)
    assert result.exit_code == 0, result.output
    compiled = chosen_in(tmp_path)
    choice = compiled.choice
    assert MAGIC in compiled.prompts["reader.answer"].instructions
    assert (choice.by, choice.objective, choice.workloads) == ("GEPA", "the most em", ("own",))
    assert choice.train + choice.validation == len(choice.seen.questions) == 10
    assert (choice.baseline["macro"]["em"].mean, choice.scores["macro"]["em"].mean) == (0.0, 1.0)
    assert "start, which is kept" not in choice.rule
    assert 0 < choice.spent.queries <= 40
    assert choice.spent.prompt_tokens > 0 < choice.spent.completion_tokens
    assert {entry.part for entry in choice.models} == {"reader", "auxiliary", "encoder", "cross_encoder"}
    assert "+1.000" in result.output
    program = ConfiguredMethod("vanilla", settings_for(), compiled).open(make_runtime(answers_with_the_word), "own")
    assert MAGIC in dict(program.named_predictors())["reader.answer"].signature.instructions


def test_the_ledger_of_the_search_is_what_was_asked_of_the_model(asked, questions, tmp_path):
    choose(tmp_path, questions)
    spent = chosen_in(tmp_path).choice.spent
    model = make_runtime(answers_with_the_word).auxiliary.engine
    assert spent.prompt_tokens == sum(model.count_tokens(request.messages) for request in asked)


def test_a_start_that_nothing_beats_is_kept_and_the_file_says_so(asked, questions, tmp_path):
    already = Prompt(instructions=f"{READS} with your {MAGIC}.")
    start = Compiled(method="vanilla", preset="tiny", parameters={"vanilla.k": 3}, prompts={"reader.answer": already})
    write_compiled(tmp_path / "start.json", start)
    result = choose(tmp_path, questions, "--start", tmp_path / "start.json")
    compiled = chosen_in(tmp_path)
    assert "the start is kept" in result.output
    assert compiled.prompts == {"reader.answer": already}
    assert compiled.parameters == {"vanilla.k": 3}
    assert compiled.choice.rule.endswith("None was better than the start, which is kept.")


def test_a_search_goes_on_from_a_compiled_file_and_adds_what_that_one_cost_and_saw(asked, questions, tmp_path):
    choose(tmp_path, questions, "--set", "vanilla.k=2")
    first = chosen_in(tmp_path)
    assert first.parameters == {"vanilla.k": 2}
    plain = first.model_copy(update={"prompts": {}, "parameters": {"vanilla.k": 3}})
    write_compiled(tmp_path / "start.json", plain)
    choose(tmp_path, questions, "--start", tmp_path / "start.json", optimizer="mipro")
    second = chosen_in(tmp_path)
    assert second.parameters == {"vanilla.k": 3}
    assert MAGIC in second.prompts["reader.answer"].instructions
    assert second.choice.by == "GEPA, then MIPROv2"
    assert second.choice.baseline == first.choice.baseline
    assert second.choice.spent.queries > first.choice.spent.queries
    assert second.choice.seen == first.choice.seen


def test_the_folder_of_the_search_can_be_read_like_one_over_parameters(asked, questions, tmp_path):
    choose(tmp_path, questions)
    lines = [json.loads(line) for line in (tmp_path / "search/trials.jsonl").read_text().splitlines()]
    [chosen] = [line for line in lines if line["chosen"]]
    assert lines[0]["parameters"] == {"reader.answer": "start"}
    assert (lines[0]["quality"], chosen["quality"]) == (0.0, 1.0)
    assert chosen["parameters"] == {"reader.answer": "1"}
    assert (tmp_path / "search/search.html").exists()
    full = json.loads((tmp_path / "search/prompts.json").read_text())
    assert MAGIC in full["reader.answer"]["1"]["instructions"]


def test_the_same_command_again_asks_nothing_and_chooses_the_same(asked, questions, tmp_path):
    choose(tmp_path, questions)
    first, calls = chosen_in(tmp_path), len(asked)
    again = choose(tmp_path, questions)
    assert again.exit_code == 0
    assert len(asked) == calls
    assert timeless(chosen_in(tmp_path)) == timeless(first)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--optimizer", "magic"), "there is no optimizer 'magic'; use one of gepa, mipro, bootstrap"),
        (("--budget", "3"), "too small"),
        (("--quality", "ret"), "nothing to choose prompts by"),
        (("--no-reader",), "add --reader"),
        (("--train", "0"), "no training questions"),
        (("--method", "magic"), "no method 'magic'"),
        (("--good", "0"), "--good"),
        (("--workers", "0"), "--workers"),
        (("--start", "nowhere.json"), "can't be read"),
        (("--proposer-model", "m", "--proposer-engine", "abacus"), "llama or server"),
        (("--proposer-model", "m", "--proposer-engine", "server"), "STATERAG_PROPOSER_URL"),
        (("--quality", "title_mention"), "not defined for these questions"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_line(arguments, said, asked, questions, tmp_path):
    result = choose(tmp_path, questions, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not (tmp_path / "chosen.json").exists()


def test_a_start_with_a_prompt_for_the_reader_wants_the_reader(asked, questions, tmp_path):
    start = Compiled(method="vanilla", preset="tiny", prompts={"reader.answer": Prompt(instructions="Read.")})
    write_compiled(tmp_path / "start.json", start)
    result = choose(
        tmp_path, questions, "--start", tmp_path / "start.json", "--no-reader", "--quality", "source_recall"
    )
    assert (result.exit_code, asked) == (2, [])
    assert "add --reader" in result.output


def test_a_folder_as_output_is_refused_before_anything_is_asked(asked, questions, tmp_path):
    result = choose(tmp_path, questions, "--out", tmp_path)
    assert (result.exit_code, asked) == (2, [])
    assert "vanilla.json" in result.output


def test_the_folder_of_a_search_for_parameters_is_left_alone(asked, questions, tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "search/study.sqlite").touch()
    result = choose(tmp_path, questions)
    assert (result.exit_code, asked) == (2, [])
    assert "name another with --search" in result.output


def test_ctrl_c_says_how_to_go_on(questions, tmp_path, monkeypatch):
    def interrupted(request):
        raise KeyboardInterrupt

    monkeypatch.setattr(prompts, "open_models", lambda s: make_runtime(interrupted, settings_for_command(s)))
    result = choose(tmp_path, questions)
    assert result.exit_code == 130
    assert "the same command goes on" in result.output


def timeless(compiled):
    plain = compiled.model_dump(mode="json")
    plain["choice"]["spent"].pop("seconds")
    return plain


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """What each optimiser chooses when nothing happens, and how long it takes."""
    found = {}
    for optimizer in ("gepa", "mipro", "bootstrap"):
        folder = tmp_path_factory.mktemp(optimizer)
        started = time.monotonic()
        killable_prompts.search_once(str(folder), optimizer)
        found[optimizer] = (timeless(read_compiled(folder / "vanilla.json", "vanilla")), time.monotonic() - started)
    return found


@pytest.mark.parametrize("optimizer", ["gepa", "mipro", "bootstrap"])
def test_a_search_killed_at_random_instants_and_run_again_chooses_as_one_never_killed(optimizer, unbroken, tmp_path):
    expected, seconds = unbroken[optimizer]
    draw = random.Random(11)
    under_way = 0
    for _ in range(4):
        process = processes.Process(target=killable_prompts.search_once, args=(str(tmp_path), optimizer))
        process.start()
        process.join(draw.uniform(0.2, 0.9) * seconds)
        under_way += process.is_alive()
        process.kill()
        process.join()
    killable_prompts.search_once(str(tmp_path), optimizer)
    assert timeless(read_compiled(tmp_path / "vanilla.json", "vanilla")) == expected
    assert under_way


@pytest.mark.parametrize("optimizer", ["gepa", "mipro", "bootstrap"])
def test_no_completion_that_was_answered_before_a_kill_is_asked_for_again(optimizer, tmp_path):
    asked = []
    dies_after = partial(dying, slowly_better, asked)
    for calls in (2, 7, 12):
        with pytest.raises(Killed):
            killable_prompts.search_once(str(tmp_path / "broken"), optimizer, dies_after(calls), latency=0)
    killable_prompts.search_once(str(tmp_path / "broken"), optimizer, dies_after(-1), latency=0)
    broken, asked[:] = list(asked), []
    killable_prompts.search_once(str(tmp_path / "whole"), optimizer, dies_after(-1), latency=0)
    assert broken == asked
    assert len({(request.messages, request.max_tokens) for request in asked}) == len(asked)


def test_a_proposer_that_has_nothing_new_is_not_asked_for_ever_nor_twice_the_same(tmp_path):
    asked = []

    def stubborn(request):
        asked.append(request)
        return "no idea" if instruction_of(request).startswith(READS) else "not JSON"

    killable_prompts.search_once(str(tmp_path), "gepa", stubborn, latency=0)
    proposals = [request.messages[-1].content for request in asked if not instruction_of(request).startswith(READS)]
    assert len(set(proposals)) == len(proposals)
    assert len(proposals) == 2 * BARREN  # for an instruction, and then for a rule
