"""How much parameters matter: the one that decides is found, with Optuna and without."""

from __future__ import annotations

import sys

import pytest

from optimize.importance import FANOVA, FEWEST, MOST, RANKS, importance
from optimize.search_record import read_search
from tests.optimize.searches import drawn, line, trials, write


@pytest.fixture(params=[FANOVA, RANKS])
def measure(request, monkeypatch):
    if request.param == RANKS:
        monkeypatch.setitem(sys.modules, "optuna", None)
    return request.param


def test_the_parameter_that_decides_quality_and_the_one_that_decides_cost_are_found(tmp_path, measure):
    found = importance(read_search(write(tmp_path, trials(80))))
    assert found.measure == measure
    assert next(iter(found.quality)) == "navigation.paths"
    assert next(iter(found.cost)) == "tam.region_tokens"
    assert found.quality["navigation.paths"] > 0.6
    assert set(found.order[:2]) == {"navigation.paths", "tam.region_tokens"}
    for shares in (found.quality, found.cost):
        assert sum(shares.values()) == pytest.approx(1)
        assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_the_same_trials_give_the_same_shares_and_nothing_is_printed(tmp_path, capfd):
    search = read_search(write(tmp_path, trials(40)))
    assert importance(search) == importance(search)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_too_few_trials_say_nothing(tmp_path):
    found = importance(read_search(write(tmp_path, [drawn(number) for number in range(FEWEST - 1)])))
    assert (found.measure, found.order) == (None, [])


def test_objectives_that_never_change_have_no_shares(tmp_path, measure):
    found = importance(read_search(write(tmp_path, [line(number) for number in range(20)])))
    assert (found.quality, found.cost) == ({}, {})


def test_a_preset_outside_of_what_was_searched_is_taken_as_it_is(tmp_path, measure):
    rows = trials(30)
    rows[0]["parameters"] |= {"verifier.threshold": 0.0, "tam.region_tokens": 7, "navigation.beam": 99}
    assert importance(read_search(write(tmp_path, rows))).measure == measure


def test_a_parameter_that_only_some_trials_have_is_left_out(tmp_path, measure):
    rows = trials(30)
    for row in rows[::2]:
        row["parameters"]["retriever.rerank"] = row["number"]
    assert "retriever.rerank" not in importance(read_search(write(tmp_path, rows))).order


def test_values_that_are_no_numbers_where_numbers_were_searched_are_kinds(tmp_path, measure):
    rows = trials(30)
    rows[1]["parameters"]["navigation.beam"] = "wide"
    rows[2]["parameters"]["navigation.beam"] = {"of": [1, 2]}
    assert "navigation.beam" in importance(read_search(write(tmp_path, rows))).order


def test_of_many_trials_some_are_taken_evenly(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    rows = [drawn(number) for number in range(1000)]
    found = importance(read_search(write(tmp_path, rows)))
    assert found.trials == MOST
    assert next(iter(found.quality)) == "navigation.paths"
