"""The methods by name."""

from __future__ import annotations

import pytest

from programs.errors import InputError
from programs.methods import spec as description
from programs.methods.registry import spec, specs


@pytest.mark.parametrize("name", specs())
def test_every_method_is_found_and_calls_itself_by_its_name(name):
    assert spec(name).load().name == name


def test_the_eight_baselines_and_the_controls_are_there():
    eight = {"vanilla", "dosrag", "react", "selfrag", "raptor", "graphrag", "memorag", "hipporag2"}
    assert {*eight, "vanilla-rerank", "flat-fusion", "staterag"} <= set(specs())


def test_an_unknown_method_is_said_with_those_that_there_are():
    with pytest.raises(InputError, match="vanilla-rerank"):
        spec("nope")


def test_a_method_whose_library_is_not_installed_names_the_extra(monkeypatch):
    monkeypatch.setattr(description, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"staterag\[baselines\]"):
        spec("raptor").load()
