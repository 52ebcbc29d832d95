"""`python -m optimize.summary`: three files from a folder, or a sentence that says why not."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from optimize.summary import app, write_summary
from tests.optimize.searches import line, trials, write

runner = CliRunner()


def test_a_page_and_a_figure_are_written_into_the_folder(tmp_path):
    folder = write(tmp_path / "search", trials(20))
    result = runner.invoke(app, [str(folder)])
    assert result.exit_code == 0, result.stderr
    assert "search.html, search.svg, search.png" in result.stdout
    html = (folder / "search.html").read_text()
    assert html.count("<svg") == 1
    assert (folder / "search.svg").read_text().partition("<svg")[2] in html
    assert (folder / "search.png").read_bytes().startswith(b"\x89PNG")


def test_another_folder_can_be_named(tmp_path):
    folder = write(tmp_path / "search", [line(0)])
    assert runner.invoke(app, [str(folder), "--out", str(tmp_path / "a" / "b")]).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["search.html", "search.png", "search.svg"]
    assert sorted(path.name for path in folder.iterdir()) == ["search.json", "trials.jsonl"]


def test_the_page_is_the_same_each_time(tmp_path):
    folder = write(tmp_path, trials(20))
    contents = [write_summary(folder)[0].read_bytes() for _ in range(2)]
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{nowhere}"], "name the folder that a search was told to write to"),
        (["{file}"], "search.json: can't be read"),
        (["{search}", "--out", "{file}"], "name another --out"),
    ],
    ids=range(3),
)
def test_bad_input_is_one_clear_line_and_exit_code_2(tmp_path, arguments, said):
    (tmp_path / "file").write_text("")
    write(tmp_path / "search", [line(0)])
    places = {name: tmp_path / name for name in ("nowhere", "file", "search")}
    result = runner.invoke(app, [argument.format(**places) for argument in arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
