"""Locking a folder of compiled programs, and noticing whatever is changed afterwards."""

from __future__ import annotations

import hashlib
import json

import pytest
from typer.testing import CliRunner

from optimize.lock import app
from programs.content_key import content_key
from programs.errors import InputError
from programs.models.identity import ModelIdentity
from programs.selection.compiled import Compiled
from programs.selection.leakage import open_selection
from programs.selection.lock import LOCK, Lock, freeze, read_lock, read_programs
from tests.support.selections import altered, compiled_on, develop, row, write_data, write_selection

runner = CliRunner()


@pytest.fixture
def development(tmp_path):
    return develop(write_data(tmp_path / "data", [row("Elm"), row("Oak"), row("Ash"), row("Fir")], [row("Yew")]))


@pytest.fixture
def folder(tmp_path, development):
    return write_selection(tmp_path / "chosen", compiled_on(development), compiled_on(development, "react"))


def lock(folder, *options):
    return runner.invoke(app, [str(folder), *options])


def test_a_lock_names_files_questions_budgets_and_no_time_so_it_is_the_same_again(folder, development):
    assert lock(folder).exit_code == 0
    first = (folder / LOCK).read_bytes()
    (folder / LOCK).unlink()
    assert lock(folder).exit_code == 0
    assert (folder / LOCK).read_bytes() == first
    said = json.loads(first)
    assert said["files"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("react.json", "vanilla.json")
    }
    assert said["budgets"] == {"react": 4, "vanilla": 4}
    assert (said["preset"], said["development"], said["unequal"]) == ("tiny", development.digest, False)
    assert len(said["seen"]["questions"].split()) == 4


def test_a_locked_selection_opens_by_its_folder_or_by_one_of_its_files(folder, development):
    lock(folder)
    selection = open_selection(folder)
    assert selection.programs == {"vanilla": compiled_on(development), "react": compiled_on(development, "react")}
    assert open_selection(folder / "react.json") == selection


def test_locking_again_after_a_change_says_that_it_replaces_a_lock(folder, development):
    assert "replaces" not in lock(folder).stderr
    assert "replaces" not in lock(folder).stderr
    write_selection(folder, compiled_on(development, parameters={"vanilla.k": 9}))
    assert "replaces another lock" in lock(folder).stderr


def test_unequal_budgets_are_listed_and_taken_only_when_asked_for_and_written_down(folder, development):
    write_selection(folder, compiled_on(development, "dosrag", trials=40))
    refused = lock(folder)
    assert refused.exit_code == 2
    assert all(part in refused.stderr for part in ("trials", "dosrag.json: 40", "react.json: 4", "--unequal"))
    assert not (folder / LOCK).exists()
    assert lock(folder, "--unequal").exit_code == 0
    taken, _ = read_lock(folder)
    assert (taken.unequal, taken.budgets) == (True, {"dosrag": 40, "react": 4, "vanilla": 4})


def test_unequal_questions_are_named_and_taken_only_when_asked_for_and_written_down(folder, development, tmp_path):
    fewer = develop(write_data(tmp_path / "fewer", [row("Elm"), row("Oak"), row("Ash")], [row("Yew")]))
    write_selection(folder, compiled_on(fewer, "dosrag"))
    refused = lock(folder)
    assert refused.exit_code == 2
    assert all(part in refused.stderr for part in ("development", "dosrag.json", "--unequal"))
    assert not (folder / LOCK).exists()
    assert lock(folder, "--unequal").exit_code == 0
    taken, _ = read_lock(folder)
    asked = len(development.train) + len(development.validation)
    assert (taken.unequal, taken.questions) == (True, {"dosrag": 3, "react": asked, "vanilla": asked})
    assert taken.development not in (development.digest, fewer.digest)
    assert set(taken.seen.questions) == {*development.seen.questions, *fewer.seen.questions}


def other_models(compiled):
    return altered(compiled, models=(ModelIdentity(part="reader", engine="server", model="other"),))


UNLIKE = {
    "preset": lambda made: made.model_copy(update={"preset": "paper"}),
    "models": other_models,
    "does not say how it was chosen": lambda made: made.model_copy(update={"choice": None}),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_programs_that_were_not_chosen_alike_are_not_locked(folder, development, what):
    write_selection(folder, UNLIKE[what](compiled_on(development)))
    result = lock(folder, "--unequal")
    assert result.exit_code == 2
    assert what in result.stderr
    assert "vanilla.json" in result.stderr
    assert not (folder / LOCK).exists()


@pytest.mark.parametrize("name", ["empty", "missing", "junk", "renamed"])
def test_a_folder_that_can_not_be_locked_is_one_clear_line(tmp_path, folder, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "junk").mkdir()
    (tmp_path / "junk" / "vanilla.json").write_bytes(b"\x00\xff")
    (tmp_path / "renamed").mkdir()
    (tmp_path / "renamed" / "mine.json").write_bytes((folder / "vanilla.json").read_bytes())
    result = lock(tmp_path / name)
    assert result.exit_code == 2
    assert name in result.stderr
    assert "Traceback" not in result.output


def test_I11_a_file_that_changed_after_it_was_locked_is_named(folder, development):
    lock(folder)
    write_selection(folder, compiled_on(development, "react", parameters={"react.steps": 9}))
    with pytest.raises(InputError, match=r"react\.json changed since it was locked"):
        read_lock(folder)
    (folder / "react.json").unlink()
    with pytest.raises(InputError, match=r"react\.json changed"):
        read_lock(folder)


def test_I11_one_space_in_a_locked_file_is_noticed(folder):
    lock(folder)
    path = folder / "vanilla.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(InputError, match=r"vanilla\.json changed"):
        read_lock(folder)


EDITS = {
    "nothing was seen": lambda said: said | {"seen": {"questions": "", "sources": ""}},
    "another preset": lambda said: said | {"preset": "paper"},
    "another development": lambda said: said | {"development": "f" * 64},
    "other budgets": lambda said: said | {"budgets": {"react": 9, "vanilla": 9}},
    "another digest": lambda said: said | {"digest": "f" * 64},
    "a file less": lambda said: said | {"files": {"react.json": said["files"]["react.json"]}},
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("mended", [False, True])
def test_I11_a_lock_edited_by_hand_is_refused_even_with_its_digest_put_right(folder, edit, mended):
    lock(folder)
    said = EDITS[edit](json.loads((folder / LOCK).read_bytes()))
    if mended:
        said["digest"] = "" if edit == "another digest" else redigested(said)
    (folder / LOCK).write_text(json.dumps(said))
    with pytest.raises(InputError, match="changed by hand"):
        read_lock(folder)


def redigested(said):
    return content_key(Lock.model_validate(said).model_dump_json(exclude={"digest"}))


def test_a_lock_that_reaches_out_of_its_folder_is_refused(folder, tmp_path, development):
    lock(folder)
    write_selection(tmp_path, compiled_on(development))
    said = json.loads((folder / LOCK).read_bytes())
    said["files"]["../vanilla.json"] = hashlib.sha256((tmp_path / "vanilla.json").read_bytes()).hexdigest()
    (folder / LOCK).write_text(json.dumps(said))
    with pytest.raises(InputError, match=r"\.\./vanilla.json changed"):
        read_lock(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00", b"[]"])
def test_a_lock_that_is_no_lock_says_how_to_make_one(folder, content):
    (folder / LOCK).write_bytes(content)
    with pytest.raises(InputError, match=r"python -m optimize\.lock"):
        read_lock(folder)


def test_programs_by_hand_are_no_selection(tmp_path):
    folder = write_selection(tmp_path / "hand", Compiled(method="vanilla", preset="tiny"))
    with pytest.raises(InputError, match="not what it saw"):
        freeze(folder, read_programs(folder), False)
