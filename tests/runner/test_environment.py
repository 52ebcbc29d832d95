"""What a run says of the code that ran."""

from __future__ import annotations

import subprocess

import pytest

from programs.runner import environment


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A checkout of some code in place of this one."""
    here = tmp_path / "programs" / "runner" / "environment.py"
    here.parent.mkdir(parents=True)
    here.write_text("code")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    monkeypatch.setattr(environment, "__file__", str(here))
    return tmp_path


def test_what_a_run_writes_into_the_checkout_makes_no_other_code_of_it(repository):
    before = environment.git_state()
    (repository / "results").mkdir()
    (repository / "results" / "records.jsonl").write_text("{}")
    assert environment.git_state() == before
    assert not before.dirty


def test_changed_code_is_told_by_what_was_changed(repository):
    (repository / "programs" / "new.py").write_text("a")
    first = environment.git_state()
    (repository / "programs" / "new.py").write_text("b")
    assert first.dirty
    assert environment.git_state().changes != first.changes
