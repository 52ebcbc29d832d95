"""Settings that can't be: every number has bounds, and an error says which, or which setting was meant."""

from __future__ import annotations

import json

import pytest
import staterag

from programs.errors import InputError
from programs.setting_faults import numbers, setting_names
from programs.settings import load_settings, settings_tree

NUMBERS = numbers(settings_tree())
FLOATS = [name for name, (kind, _) in NUMBERS.items() if kind is float]


def key_of(name: str) -> str:
    """Name an entry where a setting is a table of numbers."""
    return name.replace("*", "embedding")


def bound(name: str, *sides: str) -> float:
    return next(getattr(one, side) for one in NUMBERS[name][1] for side in sides if hasattr(one, side))


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_bounds_and_what_is_beyond_them_is_refused_with_them(name):
    low, high = bound(name, "ge", "gt"), bound(name, "le", "lt")
    assert low < high
    for value in (low - 1, high * 2 + 1, 10**23, -(10**23), '"many"', "[]"):
        with pytest.raises(InputError) as caught:
            load_settings("tiny", [f"{key_of(name)}={value}"])
        for said in (key_of(name), "takes a", str(low), str(high)):
            assert said in str(caught.value)


@pytest.mark.parametrize("value", ["nan", "NaN", "inf", "-Infinity", "1e999"])
@pytest.mark.parametrize("name", FLOATS)
def test_a_number_that_is_none_is_refused(name, value):
    with pytest.raises(InputError, match="takes a number"):
        load_settings("tiny", [f"{key_of(name)}={value}"])


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000, "1" + "0" * 400])
def test_a_value_that_no_parser_takes_is_one_clear_error(value):
    with pytest.raises(InputError, match="takes a whole number from 1 to 100") as caught:
        load_settings("tiny", [f"lifecycle.cycles={value}"])
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("timeout", "reader.timeout"),
        ("lifecycle.cycle", "lifecycle.cycles"),
        ("lifecicle.cycles", "lifecycle.cycles"),
        ("retriever.rankr", "retriever.ranker"),
        ("reader.bse_url", "reader.base_url"),
    ],
)
def test_an_unknown_setting_names_the_one_that_may_have_been_meant(key, meant):
    with pytest.raises(InputError, match=f"there is no setting {key!r}; did you mean {meant!r}"):
        load_settings("tiny", [f"{key}=1"])


def test_an_unknown_setting_that_is_like_none_says_where_all_are():
    with pytest.raises(InputError, match=r"there is no setting 'zzzz'; the command `settings` prints all"):
        load_settings("tiny", ["zzzz=1"])


def test_names_of_settings_are_those_that_the_command_prints():
    tree = load_settings("tiny").model_dump(mode="json")
    branches = {f"{name}.{leaf}" for name, branch in tree.items() if isinstance(branch, dict) for leaf in branch}
    assert set(setting_names(settings_tree())) == branches | {"preset"}


@pytest.mark.parametrize(
    ("preset", "said"),
    [
        ("nowhere.toml", "there is no such file"),
        ("{folder}/some.toml", "a folder"),
        ("{folder}/broken.toml", "not a TOML"),
        ("nope", "there is no preset 'nope'"),
    ],
)
def test_a_preset_that_can_not_be_read_says_why(tmp_path, preset, said):
    (tmp_path / "some.toml").mkdir()
    (tmp_path / "broken.toml").write_text("[reader\n")
    with pytest.raises(InputError, match=said):
        load_settings(preset.format(folder=tmp_path))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**5000, object()], ids=["nan", "inf", "huge", "object"]
)
def test_what_python_hands_in_is_judged_alike(value):
    with pytest.raises(staterag.InputError, match=r"reader\.timeout"):
        staterag.load("tiny", {"reader.timeout": value})


def test_bounds_let_through_what_the_presets_have():
    for preset in ("embedded", "paper", "tiny"):
        json.dumps(load_settings(preset).model_dump(mode="json"), allow_nan=False)
