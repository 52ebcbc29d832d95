"""StateRAG less the others, drawn."""

from __future__ import annotations

from programs.report.figure_style import style
from programs.report.names import LONGBENCH
from programs.reproduce.differences_figure import differences_figure
from tests.report.conftest import make


def drawn(*scored):
    with style():
        return differences_figure(scored)


def test_panels_share_their_rows_and_a_system_that_a_workload_lacks_leaves_its_row_empty():
    methods = ("vanilla", "raptor", "staterag")
    scored = [make(method, task, 20) for method in methods for task in LONGBENCH]
    figure = drawn(*scored, make("staterag", "qasper", 20), make("raptor", "qasper", 5))
    macro, qasper = figure.axes
    assert [label.get_text() for label in macro.get_yticklabels()] == ["RAPTOR", "Vanilla RAG"]
    assert "n = 60" in macro.get_title()
    assert "n = 5" in qasper.get_title()
    assert macro.get_ylim() == qasper.get_ylim()


def test_the_papers_difference_is_drawn_where_it_prints_one():
    [axes] = drawn(make("staterag", "qasper", 20), make("vanilla", "qasper", 20)).axes
    assert any(line.get_marker() == "|" for line in axes.get_lines())
    [axes] = drawn(make("staterag", "own", 20), make("vanilla", "own", 20)).axes
    assert not any(line.get_marker() == "|" for line in axes.get_lines())


def test_there_is_nothing_to_draw_without_two_systems():
    assert drawn(make("staterag", "qasper", 20)) is None
    assert drawn(make("vanilla", "qasper", 20), make("dosrag", "qasper", 20)) is None
