"""The page of a search: Optuna's figures of its trials, whatever these came to, and nothing from a network."""

from __future__ import annotations

import sys

import pytest
from rich.text import Text

from optimize.search_page import value_text, write_page
from tests.optimize.searches import ABOUT, line, trials

EVIL = "<script>alert(1)</script>"


def page(folder, rows, said=(), **about):
    [path] = write_page(folder, ABOUT | about, rows, said)
    return path.read_text()


def figures(html):
    return html.count('class="plotly-graph-div"')


def test_a_whole_search_has_history_front_importances_values_and_needs_no_network(tmp_path):
    html = page(tmp_path, trials(40), [Text("what was said")])
    assert figures(html) == 6
    assert "what was said" in html
    assert "Of the good ones, the cheapest." in html
    assert "<script src" not in html
    assert "<link" not in html


def test_few_trials_have_no_importances(tmp_path):
    assert figures(page(tmp_path, [line(0, chosen=True), line(1, 0.7)])) == 2


@pytest.mark.parametrize("state", ["pruned", "failed"])
def test_where_nothing_can_be_compared_nothing_is_drawn(tmp_path, state):
    assert figures(page(tmp_path, [line(number, None, None, state=state) for number in range(3)])) == 0


def test_values_outside_of_the_space_and_objectives_that_never_change_are_drawn(tmp_path):
    rows = [line(number) for number in range(20)]
    rows[0]["parameters"] |= {"navigation.beam": 99}
    rows[1]["parameters"] |= {"navigation.paths": "other"}
    assert figures(page(tmp_path, rows)) == 4


def test_texts_stay_texts(tmp_path):
    html = page(tmp_path, [line(0)], [Text(EVIL)], method=EVIL, rule=EVIL)
    assert EVIL not in html


def test_without_plotly_there_is_no_page(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    assert write_page(tmp_path, ABOUT, [line(0)], ()) == []


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
