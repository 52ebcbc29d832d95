"""Compiled files: what they say and how they are written."""

from __future__ import annotations

import json
import math

import pytest
from pydantic import ValidationError

from programs.errors import InputError
from programs.models import identity
from programs.models.identity import model_identities
from programs.selection.compiled import Compiled, MeasuredMean, Prompt, read_compiled, write_compiled
from programs.selection.configured import ConfiguredMethod
from programs.settings import load_settings
from tests.support.runs import scripted_runtime
from tests.support.selections import altered, compiled_on, develop, row, write_data


@pytest.fixture
def development(tmp_path):
    return develop(write_data(tmp_path / "data", [row("Elm"), row("Oak"), row("Ash")], [row("Yew")]))


def test_a_file_reads_back_as_it_was_written_and_the_same_program_is_the_same_bytes(tmp_path, development):
    prompts = {"reader.answer": {"instructions": "Say naïvely.", "demos": ({"question": "q?", "answer": "a"},)}}
    compiled = compiled_on(development, parameters={"vanilla.k": 3}, prompts=prompts)
    first, second = tmp_path / "new" / "vanilla.json", tmp_path / "again.json"
    write_compiled(first, compiled)
    write_compiled(second, read_compiled(tmp_path / "new", "vanilla"))
    assert read_compiled(first, "vanilla") == compiled
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "naïvely" in text
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_a_file_from_before_choices_were_written_down_still_reads_and_keeps_its_digest(tmp_path):
    path = tmp_path / "vanilla.json"
    path.write_text('{"version": 1, "method": "vanilla", "preset": "tiny", "parameters": {"vanilla.k": 1}}')
    compiled = read_compiled(path, "vanilla")
    assert compiled.choice is None
    assert compiled.digest == "29844ca2ce7c158fe31fefe5c3c42dab637d045aed39ece89f7c2fac748d2b50"


def test_how_a_program_was_chosen_does_not_change_what_it_is_called(development):
    compiled = compiled_on(development)
    assert compiled.digest == compiled.model_copy(update={"choice": None}).digest
    assert compiled.digest != compiled.model_copy(update={"parameters": {"vanilla.k": 2}}).digest


def test_a_score_that_is_no_number_is_not_written():
    with pytest.raises(ValidationError):
        MeasuredMean(mean=math.nan, n=3)


def test_a_file_of_another_method_or_in_a_place_that_does_not_exist_is_said(tmp_path, development):
    write_compiled(tmp_path / "vanilla.json", compiled_on(development))
    with pytest.raises(InputError, match="compiled for vanilla, not for react"):
        read_compiled(tmp_path / "vanilla.json", "react")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't be written"):
        write_compiled(tmp_path / "file" / "vanilla.json", compiled_on(development))


def test_weights_are_not_read_where_the_names_already_differ(development, monkeypatch):
    compiled = compiled_on(development)
    monkeypatch.setattr(identity, "_hashes", lambda name: pytest.fail("a gigabyte was hashed for nothing"))
    assert compiled.choice.unlike(load_settings("tiny", ["reader.model=big.gguf"]))


def test_the_models_of_the_preset_itself_are_the_ones_that_it_was_chosen_with(development):
    compiled = compiled_on(development)
    assert compiled.choice.unlike(load_settings("tiny")) == []
    assert altered(compiled, models=()).choice.unlike(load_settings("tiny"))
    assert [entry.part for entry in model_identities(load_settings("tiny"))] == [
        "reader",
        "auxiliary",
        "encoder",
        "cross_encoder",
    ]


@pytest.mark.parametrize(("answer", "prompts"), [(True, {"reader.answer"}), (False, set())])
def test_a_prompt_for_the_reader_is_left_out_where_no_reader_is_asked(answer, prompts):
    instructions = {"reader.answer": Prompt(instructions="Read slowly.")}
    compiled = Compiled(method="vanilla", preset="tiny", prompts=instructions)
    runtime = scripted_runtime(load_settings("tiny", [f"lifecycle.answer={str(answer).lower()}"]))
    program = ConfiguredMethod("vanilla", runtime.settings, compiled).open(runtime, "ask")
    told = {name for name, one in program.named_predictors() if one.signature.instructions == "Read slowly."}
    assert told == prompts


def test_a_prompt_for_a_role_that_the_program_lacks_is_refused():
    compiled = Compiled(method="vanilla", preset="tiny", prompts={"planner.propose": Prompt(instructions="Plan.")})
    runtime = scripted_runtime(load_settings("tiny"))
    with pytest.raises(InputError, match=r"has prompts for planner\.propose; the program asks reader\.answer"):
        ConfiguredMethod("vanilla", runtime.settings, compiled).open(runtime, "ask")
