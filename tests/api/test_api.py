"""`import staterag` as a user of DSPy meets it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import dspy
import pytest
import staterag

from programs.api import load as loading
from programs.documents.text import SkippedFile
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.selection.configured import configure
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import RoleScript

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scripted(monkeypatch):
    """Models without weights, whatever the settings name; the program is the one that would run."""
    engines = []

    def open_runtime(settings, **handed):
        engine = ScriptedEngine(RoleScript(), parameters=1000)
        engines.append((engine, handed))
        model = LanguageModel(engine)
        return Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())

    monkeypatch.setattr(loading, "open_runtime", open_runtime)
    return engines


def test_importing_it_loads_neither_torch_nor_dspy():
    check = "import sys, staterag; sys.exit(bool({'torch', 'dspy', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_every_name_that_it_offers_is_there():
    assert all(getattr(staterag, name) is not None for name in dir(staterag))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = staterag.nothing


def test_documents_are_paths_texts_or_texts_by_name(tmp_path):
    (tmp_path / "a.md").write_text("Alpha.")
    (tmp_path / "b.txt").write_text("Beta.")
    by_folder = staterag.documents(tmp_path)
    assert by_folder.texts == {"a.md": "Alpha.", "b.txt": "Beta."}
    assert staterag.documents([tmp_path / "a.md", str(tmp_path / "b.txt")]) == by_folder
    assert staterag.documents(tmp_path / "a.md", tmp_path / "b.txt") == by_folder
    assert staterag.documents(["Alpha.", "Beta."]).texts == {"text-1": "Alpha.", "text-2": "Beta."}
    assert staterag.documents({"one": "Alpha."}).texts == {"one": "Alpha."}


@pytest.mark.parametrize("given", [[], {}, ["  "], {"a": ""}, [3], {"a": 3}, "no/such/folder", [Path("nowhere.md")]])
def test_what_can_not_be_read_is_the_error_that_the_command_line_gives(given):
    with pytest.raises(staterag.InputError):
        staterag.documents(given)


def test_blank_files_are_skipped_with_a_warning(tmp_path):
    (tmp_path / "a.md").write_text("Alpha.")
    (tmp_path / "b.md").write_text(" ")
    with pytest.warns(SkippedFile):
        assert list(staterag.documents(tmp_path).texts) == ["a.md"]


def test_a_prediction_has_the_answer_and_all_that_led_to_it(scripted):
    rag = staterag.load("tiny")
    assert isinstance(rag, dspy.Module)
    found = rag("Which dome?", staterag.documents({"a": "The dome is copper. " * 80, "b": "The harbour froze. " * 80}))
    assert found.answer == found.record.answer == "the dome"
    assert found.evidence
    assert found.evidence == found.record.evidence
    assert found.action == found.record.action
    assert [commit.role for commit in found.states] == [commit.role for commit in found.record.states]
    assert found.tokens.reader > 0


def test_it_runs_with_the_settings_and_prompts_of_the_command_line(scripted):
    configured = configure("staterag", "embedded")
    rag = staterag.load("embedded")
    assert rag.settings == configured.settings
    planner = dict(rag.named_predictors())["planner.propose"]
    assert planner.signature.instructions == configured.compiled.prompts["planner.propose"].instructions


def test_questions_over_one_collection_build_its_index_once_and_follow_each_other(scripted, monkeypatch):
    built = []
    from programs.methods.staterag import program as module

    build = module.build_graph
    monkeypatch.setattr(module, "build_graph", lambda *given: built.append(1) or build(*given))
    docs = staterag.documents({"a": "The dome is copper. " * 80, "b": "The harbour froze. " * 80})
    with staterag.load("tiny") as rag:
        records = [rag("Which dome?", docs).record, rag("Which harbour?", docs).record]
    assert len(built) == 1
    assert [record.position for record in records] == [0, 1]
    assert len({record.query_id for record in records}) == 2


def test_it_can_be_awaited(scripted):
    docs = staterag.documents({"a": "The dome is copper. " * 80, "b": "The harbour froze. " * 80})
    rag = staterag.load("tiny", {"memory.enabled": False})
    assert asyncio.run(rag.acall("Which dome?", docs)).answer == rag("Which dome?", docs).answer


def test_closing_it_frees_the_models(scripted, monkeypatch):
    closed = []
    monkeypatch.setattr(ScriptedEngine, "close", lambda self: closed.append(self))
    with staterag.load("tiny"):
        assert not closed
    assert closed == [scripted[0][0]]


@pytest.mark.parametrize("method", ["vanilla", "dosrag"])
def test_any_method_is_loaded_the_same_way(scripted, method):
    found = staterag.load("tiny", method=method)("Which dome?", staterag.documents(["The dome is copper."]))
    assert found.record.method == method


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "nope"}, "there is no preset 'nope'"),
        ({"method": "nope"}, "there is no method 'nope'"),
        ({"overrides": {"lifecycle.cycles": 0}}, "lifecycle.cycles"),
        ({"overrides": ["lifecycle.cycles"]}, "key=value"),
        ({"compiled": "nowhere.json"}, r"nowhere\.json"),
    ],
)
def test_every_error_is_the_command_lines_own(scripted, given, message):
    with pytest.raises(staterag.StateRAGError, match=message):
        staterag.load(**{"preset": "tiny", **given})


@pytest.mark.parametrize("question", ["", "  ", "x" * 20_001])
def test_a_question_that_can_not_be_asked_is_an_input_error(scripted, question):
    with pytest.raises(staterag.InputError):
        staterag.load("tiny")(question, staterag.documents(["text"]))


def test_documents_that_are_none_are_said(scripted):
    with pytest.raises(staterag.InputError, match=r"staterag\.documents"):
        staterag.load("tiny")("Which dome?", "notes/")


def test_a_model_of_dspys_serves_for_both_and_stands_in_the_settings(scripted):
    model = dspy.LM("openai/some-model", api_key="none")
    with pytest.warns(UserWarning, match="left out"):
        rag = staterag.load("embedded", reader=model)
    assert scripted[0][1] == {"reader": model, "auxiliary": model}
    assert rag.settings.reader.model == rag.settings.auxiliary.model == "openai/some-model"


def test_the_model_that_dspy_was_configured_with_is_taken_where_nothing_else_is_named(scripted):
    model = dspy.LM("openai/some-model", api_key="none")
    with dspy.context(lm=model):
        with pytest.warns(UserWarning, match="left out"):
            staterag.load()
        staterag.load("tiny")
    assert [handed["reader"] for _, handed in scripted] == [model, None]
