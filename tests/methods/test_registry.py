"""The methods by name."""

from __future__ import annotations

import pytest

from programs.errors import InputError
from programs.methods import registry
from programs.methods.registry import METHODS, method_class


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_found_and_calls_itself_by_its_name(name):
    assert method_class(name).name == name


def test_the_eight_baselines_and_the_control_are_there():
    eight = {"vanilla", "dosrag", "react", "selfrag", "raptor", "graphrag", "memorag", "hipporag2"}
    assert {*eight, "vanilla-rerank", "staterag"} <= set(METHODS)


def test_an_unknown_method_is_said_with_those_that_there_are():
    with pytest.raises(InputError, match="vanilla-rerank"):
        method_class("nope")


def test_a_method_whose_library_is_not_installed_names_the_extra(monkeypatch):
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"staterag\[baselines\]"):
        method_class("raptor")
