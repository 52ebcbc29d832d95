"""Figures: which are drawn, from what, and that the same data give the same file."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.significance import Interval
from programs.report.component_figures import index_panel, mars_panel, memory_panel
from programs.report.figure_style import style
from programs.report.figures import Point, frontier, panels, quality_figure, write_figures
from programs.report.names import LONGBENCH
from programs.report.results import Results

POINTS = st.lists(st.tuples(st.floats(0.1, 100), st.floats(0, 1)), min_size=1, max_size=12)


def point(seconds: float, quality: float, method: str = "m") -> Point:
    def exactly(value: float) -> Interval:
        return Interval(value, value, value, 1, 1, 1, 1)

    return Point(method, exactly(quality), exactly(seconds))


@given(POINTS)
def test_no_point_beats_one_of_the_frontier_in_both(values):
    points = [point(*value) for value in values]
    edge = frontier(points)
    for one in edge:
        assert not any(p.latency.mean < one.latency.mean and p.quality.mean >= one.quality.mean for p in points)
        assert not any(p.latency.mean <= one.latency.mean and p.quality.mean > one.quality.mean for p in points)


@given(POINTS)
def test_every_point_is_on_the_frontier_or_beaten_by_one_that_is(values):
    points = [point(*value) for value in values]
    edge = frontier(points)
    for one in points:
        assert any(e.latency.mean <= one.latency.mean and e.quality.mean >= one.quality.mean for e in edge)


def test_longbench_is_one_panel_where_its_tasks_were_run_and_qasper_another(longbench, made):
    found = panels(Results([*longbench, made("vanilla", "qasper"), made("staterag", "qasper")]))
    assert [(panel.workload, panel.metric, len(panel.points)) for panel in found] == [
        ("longbench", "f1", 3),
        ("qasper", "f1", 2),
    ]


def test_without_a_reader_evidence_recall_is_drawn(made):
    silent = {"em": math.nan, "f1": math.nan, "accuracy": math.nan, "anls": math.nan}
    found = panels(Results([made(name, "qasper", **silent) for name in ("vanilla", "staterag")]))
    assert [panel.metric for panel in found] == ["passage_recall"]


def test_one_method_alone_is_no_comparison(made):
    assert panels(Results([made("staterag", "qasper")])) == []


def test_variants_are_drawn_where_there_is_nothing_else(made):
    [panel] = panels(Results([made("staterag", "qasper"), made("staterag-without-tam", "qasper")]))
    assert {each.method for each in panel.points} == {"staterag", "staterag-without-tam"}


def test_profiles_are_drawn_for_what_ran(made, longbench):
    plain = Results([made("vanilla", "qasper", tokens_index=0.0, memory_reads=0.0, memory_hits=0.0)])
    assert (index_panel(plain), mars_panel(plain), memory_panel(plain)) == (None, None, None)
    full = Results([*longbench, *(made("staterag-without-mars", task) for task in LONGBENCH)])
    assert None not in (index_panel(full), mars_panel(full), memory_panel(full))


def test_each_figure_is_an_svg_and_a_png(longbench, tmp_path):
    written = write_figures(Results(longbench), tmp_path)
    assert [path.name for path in written] == [
        f"{stem}.{suffix}" for stem in ("quality-latency", "components", "evidence") for suffix in ("svg", "png")
    ]
    for path in written:
        if path.suffix == ".svg":
            ElementTree.parse(path)
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


def test_the_same_data_give_the_same_svg_without_a_date(longbench, tmp_path):
    first, again = (write_figures(Results(longbench), tmp_path / name) for name in ("a", "b"))
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
        assert b"<dc:date>" not in one.read_bytes()


def test_every_method_is_named_beside_its_point(longbench):
    with style():
        figure = quality_figure(Results(longbench))
    named = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(named) == ["ReAct", "StateRAG", "Vanilla RAG"]


@pytest.mark.parametrize("name", ["$\\frac{", "<script>-->", "名前", "a" * 300, "tab\there\n", "=1"])
def test_a_name_is_drawn_as_text_whatever_it_is(name, made, tmp_path):
    tables = [made(name, "qasper", 5), made("staterag", "qasper", 5)]
    for path in write_figures(Results(tables), tmp_path):
        if path.suffix == ".svg":
            ElementTree.parse(path)
            assert "<script" not in path.read_text(encoding="utf-8")
            ids = [element.get("id", "a") for element in ElementTree.parse(path).iter()]
            assert all(re.fullmatch(r"[\w.-]+", each, re.ASCII) for each in ids)  # none is made of a name


def test_one_query_and_values_of_nought_can_be_drawn(made, tmp_path):
    tables = [made(name, "qasper", 1, f1=0.0, memory_hits=0.0, passage_recall=0.0) for name in ("vanilla", "staterag")]
    assert write_figures(Results(tables), tmp_path)


def test_nothing_to_draw_is_no_file(made, tmp_path):
    blank = dict.fromkeys(
        ("passage_recall", "answer_in_evidence", "tokens_index", "memory_reads", "memory_hits"), math.nan
    )
    table = made("vanilla", "qasper", **blank)
    assert write_figures(Results([table]), tmp_path) == []


def test_a_report_without_figures_does_not_load_matplotlib():
    code = "import sys, programs.commands.analysis, programs.commands.funnel; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
