"""Warnings are a line each, harmless whatever a file is called, and only so many."""

from __future__ import annotations

import os
import warnings

import pytest
from typer.testing import CliRunner

from programs import run
from programs.commands.terminal import MOST_WARNINGS
from tests.support.commands import check_refused, open_scripted

runner = CliRunner()


def ask(folder, *options):
    return runner.invoke(run.app, ["ask", "Which dome?", "--docs", str(folder), "--preset", "tiny", "--json", *options])


@pytest.fixture
def notes(tmp_path, monkeypatch):
    open_scripted(monkeypatch)
    (tmp_path / "good.md").write_text("The dome holds the lens.")
    return tmp_path


def test_the_first_warnings_of_a_kind_are_shown_and_the_rest_are_counted(notes):
    for i in range(MOST_WARNINGS + 7):
        (notes / f"bad{i:02}.txt").write_bytes(b"\0")
    (notes / "latin.txt").write_bytes(b"caf\xe9")
    said = [line for line in ask(notes).stderr.splitlines() if line.startswith("warning")]
    assert sum("bad" in line for line in said) == MOST_WARNINGS
    assert sum("latin.txt: not UTF-8; read as cp1252" in line for line in said) == 1
    assert said[-1] == "warning: and 7 more like these (SkippedFile)"


@pytest.mark.skipif(os.name != "posix", reason="such names are of POSIX alone")
def test_a_file_name_can_not_reach_the_terminal_as_control_codes_or_lines_of_its_own(notes):
    for name in (b"a\x1b[2J.txt", b"b\nerror: c.txt", b"d\xff.txt", "e\u202e.txt".encode()):
        with open(os.path.join(os.fsencode(notes), name), "wb") as file:
            file.write(b"\0")
    result = ask(notes)
    said = [line for line in result.stderr.splitlines() if line]
    assert sum(line.startswith("warning") for line in said) == 4
    assert not any(line.startswith("error") for line in said)
    assert not {"\x1b", "\u202e"} & set(result.stderr)


def test_strict_makes_a_skipped_file_an_error(notes):
    (notes / "bad.txt").write_bytes(b"\0")
    check_refused(ask(notes, "--strict"), "bad.txt: not a text file")
    assert ask(notes).exit_code != 2


def test_warnings_are_shown_as_before_once_a_command_is_over(notes):
    before = warnings.showwarning
    ask(notes)
    assert warnings.showwarning is before
