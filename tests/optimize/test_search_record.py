"""What is read from a search's folder, and what follows from it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.search_record import TrialRecord, best_so_far, front, read_search, value_text
from programs.errors import InputError
from tests.optimize.searches import line, trials, write

POINTS = st.lists(st.tuples(st.floats(0, 1), st.floats(1, 1e6)), min_size=1, max_size=30)


def records(points):
    return [TrialRecord.model_validate(line(number, *point)) for number, point in enumerate(points)]


def test_trials_are_counted_ranked_and_told_apart(tmp_path):
    rows = [
        line(0, 0.5, 900.0),
        line(1, 0.7, 1200.0),
        line(2, 0.7, 1100.0, chosen=True, parameters={"navigation.paths": "plan", "navigation.beam": 2}),
        line(3, 0.9, 100.0, state="pruned"),
        line(4, None, None, state="failed"),
    ]
    search = read_search(write(tmp_path, rows))
    assert [search.count(state) for state in ("complete", "pruned", "failed")] == [3, 1, 1]
    assert [trial.number for trial in search.ranked] == [2, 1, 0]
    assert (search.chosen.number, search.start.number) == (2, 0)
    assert search.differences(search.chosen) == {"navigation.paths": "plan"}
    assert search.varied == ["navigation.paths", "navigation.beam"]
    assert search.workloads == ["longbench/hotpotqa"]


def test_a_trial_that_is_written_again_stands_as_it_was_written_last(tmp_path):
    rows = [line(0), line(1), line(0, chosen=True)]
    assert read_search(write(tmp_path, rows)).chosen.number == 0


def test_numbers_that_are_none_are_not_compared(tmp_path):
    search = read_search(write(tmp_path, [line(0, float("nan")), line(1, None), line(2, 0.4, float("inf"))]))
    assert [trial.number for trial in search.complete] == [2]
    assert search.complete[0].cost is None
    assert search.start is None


def test_a_last_line_that_was_cut_short_is_no_trial(tmp_path):
    folder = write(tmp_path, [line(0), line(1)])
    with (folder / "trials.jsonl").open("ab") as file:
        file.write(json.dumps(line(2, error="é"), ensure_ascii=False).encode()[:-8])
    assert len(read_search(folder).trials) == 2


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "search.json").unlink(), "search.json: can't be read"),
        (lambda folder: (folder / "trials.jsonl").unlink(), "trials.jsonl: can't be read"),
        (lambda folder: (folder / "search.json").write_text("[]"), "not the description of a search"),
        (lambda folder: (folder / "search.json").write_bytes(b"\xff\xfe"), "not the description of a search"),
        (lambda folder: (folder / "trials.jsonl").write_text("{}\n"), r"trials.jsonl:1: not a trial \(number: "),
        (lambda folder: (folder / "trials.jsonl").write_text(""), "no trial is finished yet"),
    ],
    ids=range(6),
)
def test_a_folder_that_can_not_be_read_is_said(tmp_path, spoil, said):
    spoil(write(tmp_path, [line(0)]))
    with pytest.raises(InputError, match=said):
        read_search(tmp_path)


@given(POINTS)
def test_no_trial_beats_one_of_the_front_in_both_and_every_other_is_beaten_or_equalled(points):
    found = records(points)
    edge = front(found)
    for trial in found:
        assert not any(
            (trial.quality > one.quality and trial.cost <= one.cost)
            or (trial.quality >= one.quality and trial.cost < one.cost)
            for one in edge
        )
        assert any(one.quality >= trial.quality and one.cost <= trial.cost for one in edge)


@given(POINTS)
def test_the_best_so_far_rises_and_ends_at_the_best(points):
    steps = best_so_far(records(points))
    values = [value for _, value in steps]
    assert values == sorted(set(values))
    assert values[-1] == max(quality for quality, _ in points)


def test_pruned_and_failed_trials_are_neither_best_nor_on_the_front(tmp_path):
    search = read_search(write(tmp_path, [line(0), line(1, 0.99, 1.0, state="pruned"), line(2, None, state="failed")]))
    assert [trial.number for trial in front(search.trials)] == [0]
    assert best_so_far(search.trials) == [(0, 0.5)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("one", "one"),
        (True, "true"),
        (3, "3"),
        (0.123456, "0.1235"),
        (1.0, "1"),
        (None, "null"),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_values_are_written_as_settings_are(value, text):
    assert value_text(value) == text


def test_a_search_of_a_thousand_trials_is_read(tmp_path):
    assert len(read_search(write(tmp_path, trials(1000))).trials) == 1000
