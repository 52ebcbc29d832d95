"""The search itself: what is tried, in which order, and what is kept of it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pytest

from optimize.parameters import search as search_module
from optimize.parameters.sampling import propose
from optimize.parameters.search import Objective, ParameterSearch
from optimize.parameters.study import open_study
from optimize.parameters.trial import SlicedQuestions
from programs.errors import InputError
from programs.methods.space import OneOf, Real, Space, Whole
from programs.selection.configured import ConfiguredMethod
from programs.workloads.longbench import load_longbench
from tests.optimize.parameter_world import make_examples, make_trial, write_longbench
from tests.support.runs import scripted_runtime
from tests.support.worlds import small_settings

SETTINGS = small_settings(
    lifecycle={"answer": False, "reader_budget": 96}, tam={"region_tokens": 24, "overlap_tokens": 0}, vanilla={"k": 2}
)
PARAMETERS = (
    OneOf("tam.region_tokens", (12, 24, 48)),
    OneOf("tam.overlap_tokens", (0, 6)),
    Whole("vanilla.k", 1, 6, online=True),
)
ABOUT = {"method": "vanilla", "seed": 0, "trials": 8}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return list(load_longbench(write_longbench(tmp_path_factory.mktemp("data"), "hotpotqa", 24)))


@pytest.fixture
def found(examples, tmp_path):
    """Run a search in a folder of its own, or go on in a named one."""

    def run(trials=12, seed=0, folder="search", parameters=PARAMETERS, quality="title_mention", told=None, slices=3):
        heard = []
        questions = SlicedQuestions.sliced(examples, slices)
        space = Space.fit(parameters, SETTINGS)
        search = ParameterSearch(
            ConfiguredMethod("vanilla", SETTINGS),
            space,
            questions,
            Objective(quality, "ret"),
            scripted_runtime(SETTINGS),
            seed,
        )
        with open_study(tmp_path / folder, {**ABOUT, "seed": seed}, {}, space, questions) as study:
            chosen = search.run(study, trials, finished=(heard if told is None else told).append)
            return chosen, list(study.trials)

    return run


def without_seconds(trials):
    return [replace(trial, seconds=0.0) for trial in trials]


def test_the_first_trial_is_the_preset_as_it_is(found):
    _, trials = found(trials=1)
    assert trials[0].parameters == {"tam.region_tokens": 24, "tam.overlap_tokens": 0, "vanilla.k": 2}
    assert (trials[0].number, trials[0].state, len(trials[0].quality)) == (0, "complete", 24)


def test_the_same_seed_tries_and_chooses_the_same(found):
    first, trials = found(folder="one")
    second, again = found(folder="two")
    assert without_seconds(again) == without_seconds(trials)
    assert second.number == first.number


def test_another_seed_tries_something_else(found):
    assert [t.parameters for t in found(folder="one")[1]] != [t.parameters for t in found(folder="two", seed=1)[1]]


@pytest.mark.parametrize("stops", [(1, 2, 3, 12), (5, 11, 12), (11, 12)])
def test_a_search_that_is_gone_on_with_is_one_that_never_stopped(found, stops):
    whole, trials = found(folder="whole")
    for stop in stops:
        told = []
        chosen, parts = found(trials=stop, folder="parts", told=told)
        assert len(parts) == stop
    assert len(told) == stops[-1] - stops[-2]
    assert without_seconds(parts) == without_seconds(trials)
    assert chosen.number == whole.number


def test_it_finds_what_the_preset_misses(found):
    chosen, trials = found(trials=20)
    questions = SlicedQuestions.sliced(make_examples(24), 3)
    assert questions.mean(chosen.quality) > questions.mean(trials[0].quality) + 0.1


def test_trials_that_are_beaten_are_given_up_after_a_slice(found):
    _, trials = found(trials=20)
    given_up = [trial for trial in trials if trial.state == "pruned"]
    assert given_up
    assert {len(trial.quality) for trial in given_up} <= {8, 16}
    assert all(len(trial.quality) == 24 for trial in trials if trial.state == "complete")


def test_settings_that_were_tried_are_not_measured_again(found, monkeypatch):
    measured = []

    def counting(configured, *arguments, **options):
        measured.append(configured.settings)
        return search_module_measure(configured, *arguments, **options)

    search_module_measure = search_module.measure
    monkeypatch.setattr(search_module, "measure", counting)
    _, trials = found(trials=9, parameters=(OneOf("vanilla.k", (2, 3), online=True),), slices=1)
    assert len(trials) == 9
    assert len(measured) == 2
    assert {trial.quality for trial in trials if trial.parameters["vanilla.k"] == 2} == {trials[0].quality}


def test_settings_that_do_not_go_together_are_a_failed_trial_and_the_search_goes_on(found):
    chosen, trials = found(trials=10, parameters=(OneOf("tam.overlap_tokens", (0, 24)),))
    failed = [trial for trial in trials if trial.state == "failed"]
    assert failed
    assert {trial.parameters["tam.overlap_tokens"] for trial in failed} == {24}
    assert "must be at least 0 and less than the region" in failed[0].error
    assert chosen.number == 0


def test_a_preset_that_can_not_run_is_an_error_and_no_trial(examples, tmp_path):
    broken = small_settings(tam={"region_tokens": 8, "overlap_tokens": 8})
    questions = SlicedQuestions.sliced(examples, 3)
    space = Space.fit([Whole("vanilla.k", 1, 3)], broken)
    search = ParameterSearch(
        ConfiguredMethod("vanilla", broken),
        space,
        questions,
        Objective("title_mention", "ret"),
        scripted_runtime(broken),
        0,
    )
    with open_study(tmp_path, ABOUT, {}, space, questions) as study:
        with pytest.raises(InputError, match="must be at least 0"):
            search.run(study, 3)
        assert study.trials == []


def test_a_metric_that_no_question_has_is_said_before_a_second_trial(found):
    with pytest.raises(InputError, match="source_recall is not defined"):
        found(quality="source_recall")


def test_a_cost_that_is_not_known_of_every_question_is_said_before_a_second_trial(found, monkeypatch):
    measure = search_module.measure

    def without_a_size(*args, **options):
        whole = measure(*args, **options)
        first = {name: value for name, value in whole.scores[0].items() if name != "ret"}
        return replace(whole, scores=(first, *whole.scores[1:]))

    monkeypatch.setattr(search_module, "measure", without_a_size)
    with pytest.raises(InputError, match=r"ret is not known for 3 of 24 questions.*auxiliary\.parameters"):
        found()


@pytest.mark.parametrize(
    ("quality", "cost", "message"),
    [
        ("nothing", "ret", "'nothing' is no quality"),
        ("ret", "ret", "'ret' is no quality"),
        ("title_mention", "latency", "'latency' is no cost"),
        ("f1", "ret", "add --reader"),
    ],
)
def test_metrics_that_can_not_be_searched_by_are_refused(quality, cost, message):
    with pytest.raises(InputError, match=message):
        Objective(quality, cost).check(SETTINGS)


def test_the_trials_are_told_in_lines_that_say_which_one_was_chosen(found, tmp_path):
    chosen, trials = found()
    lines = [json.loads(line) for line in (tmp_path / "search" / "trials.jsonl").read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(12))
    assert [line["number"] for line in lines if line["chosen"]] == [chosen.number]
    assert [line["state"] for line in lines] == [trial.state for trial in trials]
    assert lines[0]["by_workload"]["questions"]["quality"] == pytest.approx(lines[0]["quality"])


def test_lines_that_a_kill_lost_are_written_again(found, tmp_path):
    found(trials=4)
    path = tmp_path / "search" / "trials.jsonl"
    path.write_text(path.read_text()[:-40])
    found(trials=4)
    assert len(path.read_text().splitlines()) == 4


def test_the_study_is_one_that_optuna_can_open(found, tmp_path):
    import optuna

    chosen, trials = found()
    study = optuna.load_study(study_name="parameters", storage=f"sqlite:///{tmp_path / 'search' / 'study.sqlite'}")
    assert [trial.number for trial in study.trials] == [trial.number for trial in trials]
    assert len(study.best_trials) >= 1
    assert chosen.number in [trial.number for trial in study.trials if trial.values]


def test_a_study_that_a_kill_left_half_made_is_made_again(found, tmp_path):
    folder = tmp_path / "search"
    folder.mkdir()
    with sqlite3.connect(folder / ".study.sqlite") as half:
        half.execute("CREATE TABLE studies (study_id INTEGER)")
    assert len(found(trials=2)[1]) == 2


def test_a_study_that_is_damaged_is_said(found, tmp_path):
    found(trials=1)
    (tmp_path / "search" / "study.sqlite").write_bytes(b"no database" * 2000)
    with pytest.raises(InputError, match="not the study of a search"):
        found(trials=2)


def test_a_file_in_the_place_of_the_folder_is_said(found, tmp_path):
    (tmp_path / "search").write_text("mine")
    with pytest.raises(InputError, match="name another folder"):
        found()


def test_a_folder_in_use_is_refused(found, examples, tmp_path):
    questions, space = SlicedQuestions.sliced(examples, 3), Space.fit(PARAMETERS, SETTINGS)
    with (
        open_study(tmp_path / "search", ABOUT, {}, space, questions),
        pytest.raises(InputError, match="another process is searching"),
    ):
        found()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"method": "dosrag"}, "method: 'vanilla', not 'dosrag'"),
        ({"seed": 3}, "seed: 0, not 3"),
        ({"space": {"a": [1]}}, "other space"),
        ({"development": "other"}, "other development questions"),
    ],
)
def test_a_folder_of_another_search_is_refused_and_left_as_it_is(found, examples, tmp_path, other, message):
    about = {**ABOUT, "space": {}, "development": "these"}
    questions, space = SlicedQuestions.sliced(examples, 3), Space.fit(PARAMETERS, SETTINGS)
    with open_study(tmp_path / "search", about, {}, space, questions):
        pass
    before = (tmp_path / "search" / "search.json").read_bytes()
    with (
        pytest.raises(InputError, match=message),
        open_study(tmp_path / "search", {**about, **other}, {}, space, questions),
    ):
        pass
    assert (tmp_path / "search" / "search.json").read_bytes() == before


def test_more_trials_may_be_asked_for_later(found, tmp_path):
    found(trials=3)
    assert len(found(trials=5)[1]) == 5
    assert len(found(trials=2)[1]) == 5


def test_proposals_hang_on_the_seed_the_number_and_the_trials_before_alone():
    questions = SlicedQuestions.sliced(make_examples(4), 1)
    space = Space.fit([Real("retriever.minimum", 0.0, 1.0), OneOf("navigation.chain", (False, True))], SETTINGS)
    before = []
    for number in range(15):
        drawn = propose(space, before, questions, number, 7, startup=5)
        assert propose(space, before, questions, number, 7, startup=5) == drawn
        near = 1 - abs(drawn["retriever.minimum"] - 0.8)
        before.append(replace(make_trial(number, [near] * 4, [1.0] * 4), drawn=drawn, parameters=drawn))
    learnt = [trial.drawn["retriever.minimum"] for trial in before[8:]]
    assert sum(abs(value - 0.8) < 0.3 for value in learnt) > len(learnt) / 2
    assert propose(space, before, questions, 15, 8, startup=5) != propose(space, before, questions, 15, 7, startup=5)
    assert propose(space, before[:-1], questions, 15, 7, startup=5) != propose(
        space, before, questions, 15, 7, startup=5
    )
