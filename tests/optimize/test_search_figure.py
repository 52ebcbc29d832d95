"""The figure of a search: which panels there are, and that the same trials give the same file."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from optimize.importance import Importance, importance
from optimize.parameter_panels import worth_a_panel
from optimize.search_figure import search_figure, title
from optimize.search_record import read_search
from programs.report.figure_style import save, style
from tests.optimize.searches import line, trials, write


def draw(folder, rows, **about):
    search = read_search(write(folder, rows, **about))
    with style():
        figure = search_figure(search, importance(search))
        return figure, save(figure, folder, "search")


def texts(figure):
    found = [text.get_text() for axes in figure.axes for text in axes.texts]
    return [*found, *(axes.get_title(loc) for axes in figure.axes for loc in ("left", "center"))]


def test_a_whole_search_shows_history_front_importance_and_parameters(tmp_path):
    figure, _ = draw(tmp_path, trials(40))
    found = texts(figure)
    for panel in ("The search", "What quality costs", "Importance (fANOVA)", "navigation.\npaths"):
        assert panel in found
    assert "start" in found
    assert any(text.startswith("chosen, trial ") for text in found)


def test_one_trial_is_the_preset_and_chosen(tmp_path):
    figure, _ = draw(tmp_path, [line(0, chosen=True)])
    assert len(figure.axes) == 2
    assert "start, chosen" in texts(figure)


@pytest.mark.parametrize("state", ["pruned", "failed"])
def test_where_nothing_can_be_compared_only_the_history_is_drawn(tmp_path, state):
    quality = 0.4 if state == "pruned" else None
    figure, _ = draw(tmp_path, [line(number, quality, None, state=state) for number in range(3)])
    assert len(figure.axes) == 1
    assert ("No trial was measured" in texts(figure)) == (state == "failed")
    assert f"3 trials (3 {state})" in figure.get_suptitle()


def test_trials_without_a_cost_have_no_front(tmp_path):
    figure, _ = draw(tmp_path, [line(number, 0.1 * number, None) for number in range(3)])
    assert [axes.get_title("left") for axes in figure.axes] == ["The search"]


def test_a_cost_that_spans_much_has_a_logarithmic_axis(tmp_path):
    wide, _ = draw(tmp_path, [line(number, 0.1, 100.0 * 10**number) for number in range(3)])
    narrow, _ = draw(tmp_path, [line(number, 0.1, 100.0 + number) for number in range(3)])
    assert [figure.axes[1].get_xscale() for figure in (wide, narrow)] == ["log", "linear"]


def test_costs_of_zero_are_drawn(tmp_path):
    figure, _ = draw(tmp_path, [line(number, 0.1, 1000.0 * number) for number in range(3)])
    assert figure.axes[1].get_xscale() == "linear"


def test_the_same_trials_give_the_same_file(tmp_path):
    contents = [draw(tmp_path / name, trials(30))[1][0].read_bytes() for name in ("a", "b")]
    assert contents[0] == contents[1]


def test_a_thousand_trials_make_a_file_that_can_be_opened(tmp_path):
    _, (vector, _) = draw(tmp_path, trials(1000))
    ElementTree.parse(vector)
    assert vector.stat().st_size < 1_500_000


def test_names_of_any_letters_are_drawn_as_they_are(tmp_path):
    rows = trials(20)
    for row in rows:
        row["parameters"]["$x^2$ & <b>"] = "$\\frac$" if row["number"] % 2 else "漢字\x1b[2J"
    figure, (vector, _) = draw(tmp_path, rows, method="<script>", preset="--></svg>$")
    ElementTree.parse(vector)
    assert figure.get_suptitle().startswith("<script>, preset --></svg>$: 20 trials")


def test_the_title_counts_the_trials(tmp_path):
    search = read_search(write(tmp_path, [line(0), line(1, state="pruned"), line(2, None, state="failed")]))
    assert title(search) == "StateRAG, preset tiny: 3 trials (1 complete, 1 pruned, 1 failed), seed 7"


def test_panels_are_for_parameters_that_matter_and_never_too_few_or_too_many():
    shares = {f"p{number}": share for number, share in enumerate([0.5, 0.3, 0.1, 0.05, 0.02, 0.01, 0.01, 0.01])}
    assert worth_a_panel(Importance("m", 9, shares, {})) == [f"p{number}" for number in range(6)]
    assert worth_a_panel(Importance("m", 9, {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, {})) == ["a", "b", "c"]
    assert worth_a_panel(Importance("m", 9, {}, {"a": 0.1, "b": 0.9})) == ["b", "a"]
