"""Which compiled program a command runs with, as a person meets it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from programs import run
from programs.commands import ask as command
from programs.commands.ask import say_what_runs as say
from programs.errors import InputError
from programs.methods.vanilla.settings import VanillaSettings
from programs.models import identity
from programs.selection import compiled as module
from programs.selection.compiled import Compiled, read_compiled, shipped, write_compiled
from programs.selection.configured import NONE, configure
from programs.settings import load_settings
from tests.support.commands import open_scripted
from tests.support.selections import compiled_on, develop, row, write_data
from tests.support.worlds import make_collection

runner = CliRunner()


@pytest.fixture
def development(tmp_path):
    return develop(write_data(tmp_path / "data", [row("Elm"), row("Oak"), row("Ash")], [row("Yew")]))


@pytest.fixture
def ships(monkeypatch, tmp_path):
    """Let compiled files ship for the preset tiny."""
    folder = tmp_path / "compiled" / "tiny"
    monkeypatch.setattr(module, "shipped_folder", lambda: folder.parent)

    def ship(compiled):
        write_compiled(folder / f"{compiled.method}.json", compiled)
        return folder / f"{compiled.method}.json"

    return ship


def test_what_ships_is_used_without_being_asked_for_and_one_line_says_so(ships, development, capsys, monkeypatch):
    monkeypatch.setattr(command.err, "_width", 40)
    file = ships(compiled_on(development, parameters={"vanilla.k": 3, "tam.overlap_tokens": 7}))
    chosen = configure("vanilla", "tiny", ["vanilla.k=5"], None)
    assert chosen.file == file == shipped("tiny", "vanilla")
    assert chosen.settings.tam.overlap_tokens == 7
    assert chosen.settings.of(VanillaSettings).k == 5  # --set has the last word
    assert chosen.compiled == read_compiled(file, "vanilla")
    say([chosen])
    said = capsys.readouterr().err.splitlines()
    assert said == ["vanilla: compiled for tiny on 3 dev questions of longbench/hotpotqa; --compiled none runs without"]


def test_methods_without_a_compiled_program_are_named_where_others_have_one(ships, development, capsys):
    ships(compiled_on(development))
    say([configure(name, "tiny", [], None) for name in ("vanilla", "react", "selfrag")])
    assert "react, selfrag: nothing is compiled for tiny" in capsys.readouterr().err
    say([configure(name, "tiny", [], None) for name in ("react", "selfrag")])
    assert capsys.readouterr().err == ""


def test_none_runs_without_and_says_nothing(ships, development, capsys):
    ships(compiled_on(development, parameters={"vanilla.k": 3}))
    chosen = configure("vanilla", "tiny", [], NONE)
    say([chosen])
    assert (chosen.compiled, chosen.settings) == (None, load_settings("tiny"))
    assert capsys.readouterr().err == ""


def test_a_settings_file_of_the_users_has_nothing_that_ships(ships, development, tmp_path):
    ships(compiled_on(development, parameters={"vanilla.k": 3}))
    (tmp_path / "tiny.toml").write_text("[vanilla]\nk = 2\n")
    assert configure("vanilla", str(tmp_path / "tiny.toml"), [], None).compiled is None


OTHER_MODELS = [
    "encoder.model=all-minilm-l6-v2",
    "encoder.engine=sentence-transformers",
    "auxiliary.engine=scripted",
    "reader.model=qwen2.5-coder-1.5b",
]


@pytest.mark.parametrize("change", OTHER_MODELS)
def test_with_other_models_what_ships_is_left_out_and_what_is_named_is_refused(ships, development, capsys, change):
    file = ships(compiled_on(development, parameters={"vanilla.k": 3}))
    chosen = configure("vanilla", "tiny", [change], None)
    say([chosen])
    assert (chosen.compiled, chosen.file) == (None, None)
    assert chosen.settings == load_settings("tiny", [change])
    said = capsys.readouterr().err
    assert "left out" in said
    assert change.partition("=")[2] in said
    with pytest.raises(InputError, match="chosen with other models"):
        configure("vanilla", "tiny", [change], file)


def test_a_server_is_taken_at_its_word_about_the_model_that_it_serves(ships, development):
    file = ships(compiled_on(development, parameters={"vanilla.k": 3}))
    served = ["auxiliary.engine=server", "reader.engine=server"]
    assert configure("vanilla", "tiny", served, None).compiled is not None
    assert configure("vanilla", "tiny", served, file).settings.of(VanillaSettings).k == 3
    another = [*served, "auxiliary.model=another"]
    assert configure("vanilla", "tiny", another, None).compiled is None


def test_weights_that_changed_under_the_same_name_are_other_models(ships, development, monkeypatch):
    ships(compiled_on(development))
    monkeypatch.setattr(identity, "_hashes", lambda name: {"model.bin": "ab" * 32})
    assert configure("vanilla", "tiny", [], None).compiled is None


def test_a_program_for_another_preset_is_refused(development, tmp_path):
    write_compiled(tmp_path / "vanilla.json", compiled_on(development, preset="paper"))
    with pytest.raises(InputError, match="--preset paper"):
        configure("vanilla", "tiny", [], tmp_path)


def test_a_file_written_by_hand_is_used_where_it_is_named(tmp_path):
    write_compiled(tmp_path / "vanilla.json", Compiled(method="vanilla", preset="tiny", parameters={"vanilla.k": 2}))
    assert configure("vanilla", "tiny", [], tmp_path / "vanilla.json").settings.of(VanillaSettings).k == 2


@pytest.fixture
def opened(monkeypatch):
    return open_scripted(monkeypatch)


PROMPTS = {"reader.answer": {"instructions": "Name the keeper and nobody else."}}


@pytest.mark.parametrize("command_line", ["sample", "ask", "eval"])
def test_every_command_that_answers_runs_what_ships_and_runs_without_it_when_told(
    ships, opened, development, tmp_path, command_line
):
    ships(compiled_on(development, method="staterag", prompts=PROMPTS, parameters={"tam.abstraction": "lead"}))
    for source in make_collection(sources=2).sources:
        (tmp_path / source.source_id).write_bytes(source.text.encode())
    given = {
        "sample": [],
        "ask": ["ask", "Which dome?", "--docs", str(tmp_path / "note-1.md"), "--json"],
        "eval": ["eval", "--method", "staterag", "--workload", "sample", "--limit", "2"],
    }[command_line]
    said = "staterag: compiled for tiny on 3 dev questions"
    for name, options, used in (("with", [], True), ("without", ["--compiled", "none"], False)):
        out = ["--out", str(tmp_path / name)] if command_line == "eval" else []
        result = runner.invoke(run.app, [*given, *out, "--preset", "tiny", *options])
        assert result.exit_code in (0, 1), result.output
        assert (said in result.stderr) is used
        openings = {request.messages[0].content.split("\n")[0] for request in opened[-1].reader.engine.requests}
        assert any(text.startswith(PROMPTS["reader.answer"]["instructions"]) for text in openings) is used
        assert (opened[-1].settings.tam.abstraction == "lead") is used


def test_the_line_about_what_ships_stays_off_stdout(ships, opened, development, tmp_path):
    ships(compiled_on(development, method="staterag"))
    (tmp_path / "note.md").write_text("The light is kept by Ada.")
    arguments = ["ask", "Who keeps the light?", "--docs", str(tmp_path / "note.md"), "--preset", "tiny", "--json"]
    assert json.loads(runner.invoke(run.app, arguments).stdout)["query_id"] == "ask"
