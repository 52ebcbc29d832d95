"""What a compiled file may set, whoever reads it: what its method declares, within bounds, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from optimize.options import SearchRequest
from optimize.search_start import fixed_settings, open_start
from programs import run
from programs.api.load import load
from programs.errors import InputError
from programs.methods.registry import specs
from programs.selection.compiled import Compiled, read_compiled, read_file, shipped_folder
from programs.selection.configured import configure
from programs.selection.lock import read_programs
from programs.settings import load_settings
from tests.support.examples import fuzzed
from tests.support.runs import scripted_runtime
from tests.support.selections import CHOSEN
from tests.workloads.files import write, write_json

NEVER = ("engine", "model", "base_url", "api_key_env", "threads", "timeout", "retries", "preset", "enabled")
"""The last part of names that say where a model is, which one, with whose key, or what is kept."""


def names(tree, above=()):
    """Every name of the settings tree, groups among them."""
    for key, value in tree.items():
        yield ".".join([*above, key])
        if isinstance(value, dict):
            yield from names(value, [*above, key])


EVERY_NAME = sorted({name for preset in ("embedded", "paper") for name in names(load_settings(preset).model_dump())})
ODD_NAMES = st.sampled_from(EVERY_NAME).flatmap(
    lambda name: st.sampled_from(
        [
            name,
            f" {name}",
            f"{name} ",
            f"{name}=1",
            f"{name}.x",
            f".{name}",
            name.upper(),
            f"{name}\0",
            name.partition(".")[0],
        ]
    )
)
VALUES = st.sampled_from(["http://example.invalid/v1", "/etc/passwd", "HOME", 0, 1, True, None, 0.5, "server"])


def made(folder: Path, method: str = "vanilla", **changes) -> Path:
    return write_json(folder / f"{method}.json", {"version": 1, "method": method, "preset": "tiny", **changes})


DOORS = {
    "a method by its file": lambda file, method: read_compiled(file, method),
    "ask and eval": lambda file, method: configure(method, "tiny", [], file),
    "import staterag": lambda file, method: load("tiny", compiled=file, method=method),
    "optimize --start": lambda file, method: open_start(searching(method, start=file)),
    "a lock": lambda file, method: read_programs(file.parent),
}


def searching(method: str, **options) -> SearchRequest:
    return SearchRequest(**{"method": method, "workload": "sample", "out": Path("x.json"), "preset": "tiny", **options})


@fuzzed(60)
@given(method=st.sampled_from(sorted(specs())), name=ODD_NAMES | st.text(max_size=40), value=VALUES)
def test_I12_no_compiled_file_sets_what_its_method_does_not_declare(tmp_path_factory, method, name, value):
    if name in {parameter.key for parameter in specs()[method].declared}:
        return
    file = made(tmp_path_factory.mktemp("compiled"), method, parameters={name: value})
    with pytest.raises(InputError, match=r"which a compiled .* may not") as caught:
        read_file(file)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("name", ["reader.base_url", "reader.api_key_env", "memory.keep_global", "encoder.model"])
def test_I12_every_reader_of_a_compiled_file_refuses_and_names_the_setting(tmp_path, door, name):
    file = made(tmp_path, "staterag", parameters={"lifecycle.cycles": 1, name: "http://example.invalid"})
    with pytest.raises(InputError, match=rf"staterag\.json: sets '{name}'"):
        door(file, "staterag")


def test_I12_a_question_asked_with_such_a_file_is_refused_before_a_model_is_opened(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "open_models", lambda settings: pytest.fail("a model was opened"))
    told = {"reader.engine": "server", "reader.base_url": "http://example.invalid/v1", "reader.api_key_env": "HOME"}
    file = made(tmp_path, "staterag", parameters=told)
    note = write(tmp_path / "note.md", "Ida mends the nets.")
    asked = ["ask", "Who mends?", "--docs", str(note), "--preset", "tiny", "--compiled", str(file)]
    done = CliRunner().invoke(run.app, asked)
    assert done.exit_code == 2
    assert "sets 'reader.engine'" in done.stderr


def test_I12_no_method_declares_a_model_an_address_a_key_or_what_is_kept():
    for one in specs().values():
        for parameter in one.declared:
            branch, _, leaf = parameter.key.rpartition(".")
            assert leaf not in NEVER, (one.name, parameter.key)
            assert branch not in ("reader", "auxiliary", "cross_encoder", "support"), (one.name, parameter.key)


def test_everything_that_ships_sets_what_its_method_declares():
    files = [*shipped_folder().glob("*/*.json"), *shipped_folder().parent.glob("starts/*/*.json")]
    read = [read_file(file).compiled for file in files if file.name != "lock.json"]
    assert {compiled.method for compiled in read} == CHOSEN


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"vanilla.k": 0}, r"'vanilla\.k': 0 is outside"),
        ({"vanilla.k": 10**9}, r"'vanilla\.k': 1000000000 is outside"),
        ({"vanilla.k": 10**60}, r"'vanilla\.k': 1000.* is outside"),
        ({"vanilla.k": "3"}, r"'vanilla\.k': 3 is outside"),
        ({"vanilla.k": True}, r"'vanilla\.k': True is outside"),
        ({"vanilla.k": None}, r"'vanilla\.k': None is outside"),
        ({"vanilla.k": 2.5}, r"'vanilla\.k': takes a whole number"),
        ({"vanilla.k": [3]}, r"parameters\.vanilla\.k: a number, a text, true, false or null"),
        ({"vanilla.k": {"a": 3}}, r"parameters\.vanilla\.k: a number"),
        ({"tam.boundaries": "paragraphs"}, r"'tam\.boundaries': paragraphs is outside"),
        ({"tam.boundaries": "x" * 10**6}, r"'tam\.boundaries': xxx.* is outside"),
        ({"tam.region_tokens": 10**6}, r"'tam\.region_tokens': 1000000 is outside"),
        ({"lifecycle.reader_budget": 10**9}, r"'lifecycle\.reader_budget': 1000000000 is outside"),
        ({"x" * 10**6: 1}, "sets 'xxx.*which a compiled vanilla may not"),
    ],
)
def test_a_value_that_no_search_would_give_is_refused_with_the_setting(tmp_path, parameters, said):
    with pytest.raises(InputError, match=rf"vanilla\.json: .*{said}") as caught:
        read_file(made(tmp_path, parameters=parameters))
    assert len(str(caught.value)) < 1000 + len(str(tmp_path))


def test_a_preset_of_the_users_may_have_values_of_its_own(tmp_path):
    preset = write(tmp_path / "mine.toml", "[vanilla]\nk = 500\n")
    file = made(tmp_path, parameters={"vanilla.k": 400}, preset="mine")
    assert configure("vanilla", str(preset), [], file).settings.model_dump()["vanilla"]["k"] == 400
    with pytest.raises(InputError, match=r"100000 is outside"):
        configure("vanilla", str(preset), [], made(tmp_path, parameters={"vanilla.k": 100_000}, preset="mine"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a compiled program"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "not a compiled program"),
        (b"\x1f\x8b" + bytes(100), "not a compiled program"),
        (b"[" * 100_000, "not a compiled program: .*recursion"),
        (b'{"parameters": ' + b'{"a": ' * 100_000, "not a compiled program: .*recursion"),
        (b'{"method": "vanilla", "preset": "tiny", "parameters": {"vanilla.k": NaN}}', r"vanilla\.k: a number"),
        (b'{"method": "vanilla", "preset": "tiny", "parameters": {"vanilla.k": 1e999}}', r"vanilla\.k: a number"),
        (b'{"method": "vanilla", "preset": "tiny", "parameters": {"vanilla.k": ' + b"9" * 10_000 + b"}}", "not a comp"),
        (b'{"method": "nobody", "preset": "tiny"}', "no method 'nobody'"),
        (b'{"method": "vanilla", "preset": "tiny", "models": {}}', "models: Extra inputs"),
        (b'{"method": "vanilla", "preset": "tiny", "prompts": {"reader.answer": {"instructions": ""}}}', "at least 1"),
    ],
    ids=["empty", "image", "gzip", "lists", "groups", "nan", "infinity", "digits", "method", "field", "no words"],
)
def test_junk_is_refused_with_its_place(tmp_path, data, said):
    with pytest.raises(InputError, match=rf"vanilla\.json: .*{said}"):
        read_file(write(tmp_path / "vanilla.json", data))


def test_a_prompt_of_any_length_is_neither_read_nor_taken(tmp_path, monkeypatch):
    told = {"reader.answer": {"instructions": "x" * 200_000}}
    with pytest.raises(InputError, match=r"prompts\.reader\.answer\.instructions: .*at most 100000"):
        read_file(made(tmp_path, prompts=told))
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(10**11)  # a hole: a hundred gigabytes by its size, and none on the disk
    with pytest.raises(InputError, match=r"huge\.json: larger than"):
        read_file(huge)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "."])
def test_a_place_that_can_not_be_read_is_said(path):
    with pytest.raises(InputError, match="can't be read"):
        read_file(Path(path))


def test_a_worked_example_of_other_types_than_the_prompt_has_is_refused():
    told = {"planner.propose": {"instructions": "Plan.", "demos": ({"plan": {"targets": 7}},)}}
    compiled = Compiled(method="staterag", preset="tiny", prompts=told)
    with (
        configure("staterag", "tiny", [], Path("none")).open(scripted_runtime()) as program,
        pytest.raises(InputError, match=r"compiled staterag: a worked example of planner\.propose: "),
    ):
        compiled.load_into(program)


@pytest.mark.parametrize("override", ["lifecycle.role_tokens=96", "vanilla.k=10000", "memory.keep_global=false"])
def test_a_search_says_at_once_what_its_file_could_not(override):
    request = searching("vanilla", overrides=[override])
    with pytest.raises(InputError, match="what the search would write .*" + override.partition("=")[0]):
        fixed_settings(request, load_settings("tiny", [override]))


def test_a_search_leaves_out_which_models_ran_and_keeps_the_rest():
    overrides = ["reader.engine=server", "encoder.model=other", "cross_encoder.engine=none", "vanilla.k=3"]
    settings = load_settings("tiny", overrides)
    assert fixed_settings(searching("vanilla", overrides=overrides), settings) == {"vanilla.k": 3}


def test_what_is_written_can_be_read(tmp_path):
    file = made(tmp_path, parameters={"vanilla.k": 3, "tam.boundaries": "sentences"})
    assert json.loads(file.read_text())["parameters"] == read_file(file).compiled.parameters
