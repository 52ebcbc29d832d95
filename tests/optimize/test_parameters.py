"""`python -m optimize.parameters`: from the command line to a compiled file, and through every kill in between."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from optimize.development import open_development
from optimize.options import ParameterRequest
from optimize.parameters import __main__ as parameters
from optimize.parameters import run as parameters_run
from optimize.parameters.run import run_search
from programs.errors import InputError
from programs.selection.compiled import Compiled, Prompt, read_compiled, write_compiled
from programs.settings import load_settings
from tests.optimize import killable_parameters
from tests.optimize.parameter_world import SCRIPTED, request, run, write_tasks
from tests.support.runs import opinions, scripted_runtime

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.optimize.killable_parameters"])


@pytest.fixture
def data(tmp_path):
    return write_tasks(tmp_path, hotpotqa=16, musique=14)


def lines_of(folder):
    """The trials without what hangs on time."""
    lines = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key != "seconds"} for line in lines]


def compiled_of(path):
    """The compiled file without what hangs on time."""
    tree = json.loads(Path(path).read_text())
    tree["choice"]["spent"].pop("seconds")
    return tree


def counted_opinions():
    """A script, and the list of what it was asked."""
    asked = []

    def counting(item):
        asked.append(item)
        return opinions(item)

    return asked, counting


def test_a_search_writes_what_it_chose_and_what_that_is_worth(data):
    chosen = run(data)
    compiled = read_compiled(data / "out" / "compiled.json", "vanilla-rerank")
    choice = compiled.choice
    assert compiled.parameters.items() >= chosen.parameters.items()
    assert compiled.preset == "tiny"
    assert (choice.train, choice.validation, choice.workloads) == (0, 30, ("longbench/hotpotqa", "longbench/musique"))
    assert (choice.seed, choice.spent.trials) == (0, 14)
    development = open_development(request(data).workload.split(","), data, None, None, 0.0, 0)
    assert (choice.development, choice.seen) == (development.digest, development.seen)
    assert set(choice.scores) == set(choice.baseline) == {*choice.workloads, "macro"}
    assert choice.scores["longbench/musique"]["title_mention"].n == 14
    assert choice.scores["macro"]["title_mention"].mean >= choice.baseline["macro"]["title_mention"].mean - 0.1
    assert "f1" not in choice.scores["macro"]
    assert "no reader was asked" in choice.objective
    assert {entry.part for entry in choice.models} == {"reader", "auxiliary", "encoder", "cross_encoder"}


def test_the_compiled_file_gives_the_chosen_trials_settings_over_its_preset(data):
    run(data)
    compiled = read_compiled(data / "out" / "compiled.json", "vanilla-rerank")
    models = ["reader.engine=scripted", "auxiliary.engine=scripted"]
    settings = load_settings(compiled.preset, [*compiled.overrides, *models])
    assert settings.tam.region_tokens == compiled.parameters["tam.region_tokens"]
    assert settings.lifecycle.reader_budget == 128  # what --set said belongs to the choice
    assert settings.lifecycle.answer is True  # that no reader was asked does not
    assert settings.memory.keep_global is True
    assert not any(key.startswith(("reader.", "auxiliary.")) for key in compiled.parameters)


def test_the_folder_of_a_search_can_be_read_and_shown(data):
    chosen = run(data, drawn=True)
    lines, about = lines_of(data / "search"), json.loads((data / "search" / "search.json").read_text())
    assert len(lines) == 14
    assert [line["number"] for line in lines if line["chosen"]] == [chosen.number]
    assert (about["method"], about["quality"], about["cost"]) == ("vanilla-rerank", "title_mention", "ret")
    assert {path.name for path in (data / "search").iterdir()} >= {
        "search.json",
        "trials.jsonl",
        "study.sqlite",
        "completions.sqlite",
        "development.json",
        "search.html",
    }
    split = json.loads((data / "search" / "development.json").read_text())
    assert len(split["validation"]) == 30


def test_with_a_reader_answers_are_what_is_searched_by(data):
    run(data, reader=True, trials=2, method="vanilla")
    choice = read_compiled(data / "out" / "compiled.json", "vanilla").choice
    assert "f1" in choice.scores["macro"]
    assert choice.objective == "the most f1, then the least ret"
    assert choice.spent.prompt_tokens > 0


def test_the_same_search_chooses_the_same_and_writes_the_same_file(data):
    for name in ("one", "two"):
        run(data, search=data / name, out=data / f"{name}.json", method="staterag", trials=4, limit=6)
    assert lines_of(data / "one") == lines_of(data / "two")
    assert compiled_of(data / "one.json") == compiled_of(data / "two.json")


def write_start(data, **parts):
    path = data / "start.json"
    write_compiled(path, Compiled(**{"method": "staterag", "preset": "tiny", **parts}))
    return path


def test_a_search_starts_from_a_compiled_file_and_hands_its_prompts_on(data):
    prompts = {"planner.propose": Prompt(instructions="You are the Planner. Name what must be looked up.")}
    start = write_start(data, parameters={"navigation.beam": 7, "memory.similar_plans": 1}, prompts=prompts)
    said = []

    def told(request):
        said.append(request.messages[0].content)
        return opinions(request)

    chosen = run(data, script=told, start=start, method="staterag", trials=3, limit=4)
    first = lines_of(data / "search")[0]
    compiled = read_compiled(data / "out" / "compiled.json", "staterag")
    assert first["parameters"]["navigation.beam"] == 7
    assert any("Name what must be looked up." in text for text in said)
    assert compiled.prompts == prompts
    assert compiled.parameters["memory.similar_plans"] == 1
    assert compiled.parameters["navigation.beam"] == chosen.parameters["navigation.beam"]


def test_what_a_start_has_seen_and_cost_goes_on_to_count(data):
    run(data, workload="longbench/hotpotqa", method="vanilla", trials=2, out=data / "first.json")
    run(data, workload="longbench/musique", method="vanilla", trials=3, start=data / "first.json", search=data / "next")
    first = read_compiled(data / "first.json", "vanilla").choice
    both = read_compiled(data / "out" / "compiled.json", "vanilla").choice
    assert set(both.seen.questions) > set(first.seen.questions)
    assert both.spent.trials == 5
    assert both.by == "optuna TPE, then optuna TPE"
    assert both.baseline == {}  # the first search's start was never asked these questions


def test_a_start_and_none_are_two_searches(data):
    start = write_start(data, method="vanilla", prompts={"reader.answer": Prompt(instructions="Read.")})
    options = {"method": "vanilla", "trials": 1, "reader": True, "limit": 3}
    run(data, start=start, **options)
    with pytest.raises(InputError, match="other start"):
        run(data, **options)


def test_several_workers_choose_what_one_chooses(data):
    for name, workers in (("one", 1), ("many", 4)):
        options = {"method": "staterag", "trials": 4, "limit": 6, "workers": workers}
        run(data, 0.001, search=data / name, out=data / f"{name}.json", **options)
    assert lines_of(data / "one") == lines_of(data / "many")


def test_a_question_that_was_answered_is_not_asked_again(data):
    options = {"method": "staterag", "trials": 3, "limit": 4}
    asked, counting = counted_opinions()
    run(data, script=counting, **options)
    first = len(asked)
    assert first == len({(item.messages, item.max_tokens, json.dumps(item.schema)) for item in asked})
    run(data, script=counting, **options)
    assert len(asked) == first


def test_searches_that_share_their_completions_ask_once(data):
    options = {"method": "staterag", "trials": 1, "limit": 4, "completions": data / "kept.sqlite"}
    asked, counting = counted_opinions()
    for name in ("first", "second"):
        run(data, script=counting, search=data / name, out=data / f"{name}.json", **options)
        assert len(asked) == len({(item.messages, item.max_tokens) for item in asked}) > 0
    assert lines_of(data / "first") == lines_of(data / "second")


def test_a_search_that_ended_can_be_gone_on_with_more_trials(data):
    run(data, trials=4)
    run(data, trials=12)
    run(data, trials=12, search=data / "whole")
    assert lines_of(data / "search") == lines_of(data / "whole")


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A search that nothing happened to."""
    data = write_tasks(tmp_path_factory.mktemp("data"), hotpotqa=8, musique=8)
    killable_parameters.search_once(str(data), str(data / "whole"))
    return data


def finished_trials(folder):
    lines = folder / "trials.jsonl"
    return lines.read_bytes().count(b"\n") if lines.exists() else 0


def killed(data, folder, trials, seconds):
    """Search in another process and kill it some time after so many trials are done; say how many were done then."""
    process = processes.Process(target=killable_parameters.search_once, args=(str(data), str(folder)))
    process.start()
    while process.is_alive() and (finished_trials(folder) < trials or not folder.exists()):
        time.sleep(0.002)
    process.join(seconds)
    process.kill()
    process.join()
    return finished_trials(folder)


def test_a_search_killed_at_any_instant_ends_as_one_never_killed(unbroken):
    draw = random.Random(4)
    in_the_middle = 0
    for kill, trials in enumerate((0, 1, 2, 3)):
        folder = unbroken / f"killed{kill}"
        in_the_middle += 0 < killed(unbroken, folder, trials, draw.uniform(0, 0.2)) < 5
        killable_parameters.search_once(str(unbroken), str(folder))
        assert lines_of(folder) == lines_of(unbroken / "whole")
        assert compiled_of(folder.with_suffix(".json")) == compiled_of(unbroken / "whole.json")
    assert in_the_middle >= 2


def test_a_search_killed_again_and_again_still_ends_the_same(unbroken):
    folder = unbroken / "again"
    for trials, seconds in ((0, 0.05), (1, 0.1), (2, 0.01), (3, 0.15)):
        killed(unbroken, folder, trials, seconds)
    killable_parameters.search_once(str(unbroken), str(folder))
    assert lines_of(folder) == lines_of(unbroken / "whole")
    assert compiled_of(unbroken / "again.json") == compiled_of(unbroken / "whole.json")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"method": "vanilla"}, "method: 'vanilla-rerank', not 'vanilla'"),
        ({"limit": 5}, "other development questions"),
        ({"train": 0.5}, "other development questions"),
        ({"seed": 9}, "seed: 0, not 9"),
        ({"overrides": [*SCRIPTED, "lifecycle.reader_tokens=32"]}, "other settings"),
        ({"overrides": [*SCRIPTED, "vanilla_rerank.k=3"]}, "space"),
        ({"quality": "passage_recall"}, "quality: 'title_mention', not 'passage_recall'"),
        ({"cheap": True, "method": "vanilla-rerank", "cost": "tokens_reader"}, "cost: 'ret', not 'tokens_reader'"),
    ],
)
def test_another_search_in_the_same_folder_is_refused(data, other, message):
    run(data, trials=1)
    with pytest.raises(InputError, match=message):
        run(data, **{"trials": 1, **other})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"trials": 0}, "count from 1"),
        ({"workers": 0}, "count from 1"),
        ({"method": "nobody"}, "no method 'nobody'"),
        ({"workload": "longbench/nowhere"}, "no workload"),
        ({"quality": "nothing"}, "no quality"),
        ({"quality": "f1"}, "add --reader"),
        ({"cost": "latency"}, "no cost"),
        ({"overrides": [*SCRIPTED, "tam.nothing=1"]}, "tam.nothing"),
        ({"track": "paper"}, "no tracker"),
        ({"out": Path()}, "is a folder"),
        ({"start": Path("nowhere.json")}, "can't be read"),
    ],
)
def test_what_can_not_be_done_is_said_before_a_model_is_loaded(data, other, message):
    def no_models(settings):
        raise AssertionError("a model was loaded")

    with pytest.raises(InputError, match=message):
        run_search(request(data, **other), no_models)


def test_optuna_is_named_where_it_is_missing(data, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'staterag\[optimize\]'"):
        run(data)


@pytest.fixture
def command(data, monkeypatch):
    monkeypatch.setattr(parameters, "open_models", scripted_runtime)
    fixed = ["--data", str(data), "--preset", "tiny", "--search", str(data / "search"), "--out", str(data / "c.json")]
    sets = [part for override in SCRIPTED for part in ("--set", override)]
    options = ["--workload", "longbench/hotpotqa", "--trials", "6", "--train", "0", *fixed, *sets]

    def invoke(*more):
        return CliRunner().invoke(parameters.app, [*options, *more])

    return invoke


def test_the_command_prints_the_ranking_and_where_the_choice_is(command, data):
    result = command("--method", "vanilla-rerank")
    assert result.exit_code == 0, result.output
    assert "6 trials on 16 questions" in result.output
    assert "chosen" in result.output
    assert "start" in result.output
    assert "against the start" in result.output
    assert (data / "c.json").is_file()


def test_the_command_says_what_is_wrong_and_exits_with_2(command):
    result = command("--method", "nobody")
    assert result.exit_code == 2
    assert "error: there is no method 'nobody'" in result.output


def test_ctrl_c_says_how_to_go_on(command, data, monkeypatch):
    stopped = []

    def interrupted(self, trial, *arguments):
        if trial.number == 2 and not stopped:
            stopped.append(trial.number)
            raise KeyboardInterrupt
        return tried(self, trial, *arguments)

    tried = parameters_run.ParameterSearch._tried
    monkeypatch.setattr(parameters_run.ParameterSearch, "_tried", interrupted)
    result = command("--method", "vanilla-rerank")
    assert result.exit_code == 130
    assert "2 of 6 trials are kept in" in result.output
    assert "the same command goes on" in result.output
    assert command("--method", "vanilla-rerank").exit_code == 0
    assert len(lines_of(data / "search")) == 6


def test_the_folder_has_the_name_of_the_preset_and_the_method():
    asked = ParameterRequest(
        method="vanilla", workload="sample", trials=1, out=Path("x.json"), preset="mine/laptop.toml"
    )
    assert asked.folder == Path("runs/search/laptop-vanilla")
