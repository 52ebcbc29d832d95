"""Which runs the studies come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.errors import InputError
from programs.reproduce.planned import PlannedRun, Questions, planned_runs, runs_of, without_libraries
from programs.reproduce.studies import COSTLY, MAIN, STUDIES, WORKLOADS, Arm, chosen_studies
from tests.workloads.files import write_rows

SAMPLE = 7


def row(number):
    return {
        "_id": f"row-{number}",
        "input": "Where?",
        "context": "Passage 1:\nHere\nIt is here.\n",
        "answers": ["here"],
        "length": 5,
        "dataset": "hotpotqa",
        "language": "en",
        "all_classes": None,
    }


@pytest.fixture
def data(tmp_path):
    write_rows(tmp_path / "longbench" / "hotpotqa.dev.jsonl", *map(row, range(15)))
    return tmp_path


def test_without_data_the_sample_stands_in_for_every_workload_and_no_run_comes_twice():
    runs = planned_runs(STUDIES, Questions(None, "dev"))
    assert {run.workload for run in runs} == {"sample"}
    assert len(set(runs)) == len(runs)
    assert len({run.folder(Path()) for run in runs}) == len(runs)
    assert {run.method for run in runs} >= set(MAIN)


def test_a_study_of_several_ways_shares_the_run_that_changes_nothing():
    [order] = chosen_studies("order")
    runs = runs_of(order, Questions(None, "dev"))
    assert PlannedRun("sample", "staterag", Arm()) in runs
    assert [run.arm.label for run in runs] == ["", "relaxed order, 4 at once"]
    assert PlannedRun("sample", "staterag", Arm()) in planned_runs(chosen_studies("main"), Questions(None, "dev"))


def test_a_horizon_beyond_all_queries_is_not_run_apart():
    [horizon] = chosen_studies("horizon")
    labels = [run.arm.label for run in runs_of(horizon, Questions(None, "dev"))]
    assert SAMPLE < 10
    assert labels == ["", "no query before", "the last 1"]


def test_workloads_whose_files_are_not_there_are_left_out_with_the_reason(data):
    questions = Questions(data, "dev")
    assert {run.workload for run in planned_runs(STUDIES, questions)} == {"longbench/hotpotqa"}
    assert set(questions.left_out) == set(WORKLOADS) - {"longbench/hotpotqa"}
    assert "questions.dev.jsonl" in questions.left_out["qasper"]


def test_nothing_at_all_to_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"nothing to run: .*hotpotqa\.dev\.jsonl"):
        planned_runs(STUDIES, Questions(tmp_path, "dev"))
    with pytest.raises(InputError, match="limit of 0"):
        planned_runs(STUDIES, Questions(None, "dev", limit=0))


def test_costly_methods_may_have_fewer_questions(data):
    questions = Questions(data, "dev", limit=12, costly_limit=4)
    sizes = {name: len(questions.of("longbench/hotpotqa", name).examples) for name in (*COSTLY, "vanilla")}
    assert sizes == dict.fromkeys(COSTLY, 4) | {"vanilla": 12}
    assert len(Questions(data, "dev").of("longbench/hotpotqa", "react").examples) == 15


def test_parts_are_chosen_by_name():
    assert [study.name for study in chosen_studies("carriers, main,carriers")] == ["carriers", "main"]
    with pytest.raises(InputError, match=r"no part is called 'all'; there are main, .*horizon"):
        chosen_studies("all")


def test_a_method_without_its_library_is_named_with_what_brings_it(monkeypatch):
    monkeypatch.setattr("programs.methods.spec.find_spec", lambda name: None)
    assert list(without_libraries(["vanilla", "raptor"])) == ["raptor"]
    assert "pip install" in without_libraries(["raptor"])["raptor"]
