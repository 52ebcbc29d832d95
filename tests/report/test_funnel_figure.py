"""The funnel's picture: whole bars, the right losses, and names as texts."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.funnel import STAGES
from programs.report.component_figures import bar, funnel_figure
from programs.report.figure_style import save, style
from tests.report.funnels import a_funnel

FURTHEST = st.lists(st.sampled_from(STAGES), min_size=1).map(tuple)


def shares(funnel):
    return {part.label: share for part, share in bar("all", funnel.whole, funnel.stages).shares.items() if share}


@given(st.dictionaries(st.sampled_from(["a", "b", None]), FURTHEST, min_size=1))
def test_the_parts_of_a_bar_are_all_of_its_gold(kinds):
    funnel = a_funnel(kinds=kinds)
    assert sum(shares(funnel).values()) == pytest.approx(1)


def test_a_loss_is_called_by_the_stage_that_was_not_reached():
    assert shares(a_funnel()) == pytest.approx(
        {
            "admitted": 0.4,
            "not admitted": 0.1,
            "not carried": 0.1,
            "not kept": 0.1,
            "no candidate": 0.1,
            "never reached": 0.1,
            "query incomplete": 0.1,
        }
    )


def test_a_method_without_a_state_loses_only_at_the_end():
    funnel = a_funnel("vanilla", {"bridge": ("admitted", "completed", "completed", "gold")})
    assert shares(funnel) == {"admitted": 0.25, "not admitted": 0.5, "query incomplete": 0.25}


def test_each_method_has_a_panel_and_each_type_a_bar_with_its_gold():
    with style():
        figure = funnel_figure([a_funnel("vanilla", {None: ("admitted",)}), a_funnel()])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Vanilla RAG, HotpotQA", "StateRAG, HotpotQA"]
    labels = [[tick.get_text() for tick in axes.get_yticklabels()] for axes in figure.axes]
    assert labels == [["all (1)"], ["bridge (8)", "comparison (2)", "all (10)"]]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named[0] == "admitted"
    assert len(named) == len(STAGES)


@pytest.mark.parametrize("name", ["$\\frac{", "<script>-->", "名前", "a" * 300, "tab\there\n"])
def test_a_name_is_drawn_as_text_whatever_it_is_and_the_same_twice(name, tmp_path):
    with style():
        first, again = (
            save(funnel_figure([a_funnel(name, {name: ("admitted",), "b": ("gold",)})]), tmp_path / folder, "funnel")
            for folder in ("one", "two")
        )
    assert [path.name for path in first] == ["funnel.svg", "funnel.png"]
    ElementTree.parse(first[0])
    assert "<script" not in first[0].read_text(encoding="utf-8")
    assert first[0].read_bytes() == again[0].read_bytes()
