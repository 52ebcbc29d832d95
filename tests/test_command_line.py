"""The command line as a person meets it: exit codes, clean stdout, clear errors."""

from __future__ import annotations

import json
import warnings

import pytest
import typer
from typer.testing import CliRunner

from programs import run
from programs.commands.terminal import plain_errors
from programs.errors import StateRAGError
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from tests.support.commands import check_refused
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import RoleScript
from tests.support.worlds import make_collection, small_settings

runner = CliRunner()
CONTROLS = {"\x1b", "\x9b", "\u202e"}


@pytest.fixture
def scripted(monkeypatch):
    """Open a scripted model where the command line would load a real one."""

    def use(script: RoleScript):
        def open_models(settings):
            model = LanguageModel(ScriptedEngine(script))
            return Runtime(small_settings(), model, model, HashedEncoder(), OverlapCrossEncoder())

        monkeypatch.setattr(run, "open_models", open_models)

    return use


@pytest.fixture
def notes(tmp_path):
    for source in make_collection().sources:
        (tmp_path / source.source_id).write_bytes(source.text.encode())
    return tmp_path


def test_ask_prints_the_answer_the_action_and_where_the_evidence_stands(scripted, notes):
    scripted(RoleScript())
    result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(notes), "--preset", "tiny"])
    assert result.exit_code == 0
    assert "the dome" in result.stdout
    assert "RELEASE after 1 cycle" in result.stdout
    assert "note-" in result.stdout


def test_ask_json_prints_one_record_and_nothing_else_to_stdout(scripted, notes):
    scripted(RoleScript())
    result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(notes), "--json"])
    record = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    item = record["evidence"][0]
    source = (notes / item["source_id"]).read_bytes().decode()
    assert source[item["start"] : item["end"]] == item["text"]


def test_several_files_may_follow_docs(scripted, notes):
    scripted(RoleScript())
    files = [str(path) for path in sorted(notes.iterdir())]
    result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", *files, "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["status"] == "completed"


def test_an_incomplete_query_exits_1_and_says_why(scripted, notes):
    scripted(RoleScript(planner="junk"))
    result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(notes), "--preset", "tiny"])
    assert result.exit_code == 1
    assert "planner's plan was rejected in cycle 1 (malformed)" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "x" * 100_000, "--docs", "{notes}"], "100,000 characters"),
        (["ask", "  ", "--docs", "{notes}"], "blank"),
        (["ask", "q", "--docs", "{notes}/missing.md"], "missing.md"),
        (["ask", "q", "--docs", "{junk}"], "junk.txt"),
        (["ask", "q", "--docs", "{empty}"], "empty.md"),
        (["ask", "q", "--docs", "{notes}", "--preset", "nope"], "no preset 'nope'"),
        (["ask", "q", "--docs", "{notes}", "--set", "lifecycle.cycle=2"], "lifecycle.cycle"),
        (["ask", "q", "--docs", "{notes}", "--set", "lifecycle.cycles=0"], "lifecycle.cycles"),
        (["ask", "q", "--docs", "{notes}", "--set", "nonsense"], "key=value"),
        (["models", "pull", "no-such-model"], "no-such-model"),
        (["models", "eat"], "list, pull and check"),
        (["ask", "q", "--docs", "{notes}", "--preset", "paper"], "STATERAG_AUXILIARY_URL"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(notes, tmp_path_factory, monkeypatch, arguments, said):
    for name in ("STATERAG_AUXILIARY_URL", "STATERAG_READER_URL"):
        monkeypatch.delenv(name, raising=False)
    other = tmp_path_factory.mktemp("other")
    (other / "junk.txt").write_bytes(b"\x00\xff\x00")
    (other / "empty.md").write_bytes(b"")
    places = {"notes": notes, "junk": other / "junk.txt", "empty": other / "empty.md"}
    check_refused(runner.invoke(run.app, [argument.format(**places) for argument in arguments]), said)


def test_document_text_can_not_reach_the_terminal_as_control_codes_or_markup(scripted, tmp_path):
    scripted(RoleScript(reader="[bold]the dome[/bold]\x1b[31m"))
    (tmp_path / "evil.md").write_text("[red]lens[/red] \x1b[2J\x1b]0;owned\x07 dome [link=file:///]x[/link]")
    result = runner.invoke(run.app, ["ask", "dome?", "--docs", str(tmp_path)])
    assert result.exit_code == 0
    assert "\x1b[2J" not in result.stdout
    assert "\x1b]0;" not in result.stdout
    assert "[bold]the dome[/bold]" in result.stdout
    assert "[red]lens[/red]" in result.stdout


def test_settings_prints_the_whole_tree_as_json():
    result = runner.invoke(run.app, ["settings", "--preset", "tiny", "--set", "lifecycle.cycles=3"])
    assert json.loads(result.stdout)["lifecycle"]["cycles"] == 3


def test_models_lists_the_catalogue():
    result = runner.invoke(run.app, ["models"])
    assert result.exit_code == 0
    assert "smollm2-135m" in result.stdout


@pytest.mark.parametrize(("options", "code"), [([], 3), (["--best-guess"], 0), (["--json"], 3)])
def test_what_the_documents_do_not_say_has_an_exit_code_of_its_own(scripted, notes, options, code):
    scripted(RoleScript())
    judged = ["--preset", "tiny", "--set", "support.judge=true", "--set", "support.bias=-9"]
    result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(notes), *judged, *options])
    assert result.exit_code == code
    if "--json" in options:
        assert json.loads(result.stdout)["support"]["status"] == "not found"
    else:
        assert ("Not found in these documents" in result.stdout) is (code == 3)
        assert "the dome" in result.stdout


@pytest.mark.parametrize(
    "name", ["\x1b[2J\x1b[31m.md", "\u202egpj.md", "[bold]x[link].md", ":skull:.exe", "\x9b31m.exe"]
)
def test_the_name_of_a_file_is_printed_as_it_is_and_without_control_characters(scripted, tmp_path, name):
    scripted(RoleScript())
    (tmp_path / "lens.md").write_text("the dome holds the lens")
    (tmp_path / name).write_text("")
    for asked in ([], ["--out", str(tmp_path / name.replace(".", "-"))]):
        result = runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(tmp_path), "--preset", "tiny", *asked])
        assert result.exit_code == 0, result.output
        assert not CONTROLS & set(result.output)
        assert "".join("�" if character in CONTROLS else character for character in name) in result.output


def test_what_a_fault_or_a_warning_quotes_is_shown_as_text_and_nothing_else(capsys):
    def fails(quoted):
        warnings.warn(quoted, UserWarning, stacklevel=1)
        raise StateRAGError(quoted)

    quoted = "a server says \x1b[2J\x07\x00 and \ud800"
    with pytest.raises(typer.Exit), plain_errors():
        fails(quoted)
    shown = capsys.readouterr().err
    assert shown == "".join(
        f"{kind}: a server says \ufffd[2J\ufffd\ufffd and \ufffd\n" for kind in ("warning", "error")
    )
