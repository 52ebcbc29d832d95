"""Tables written into a page: what a mark asks for stands between its marks, and nothing else of the page changes."""

from __future__ import annotations

import pytest

from programs.errors import InputError
from programs.report.page import asked_table, write_into

PAGE = """# Results

Before.

<!-- table quality: f1, ret less staterag -->
an old table
<!-- end of quality -->

After: 0.123.
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(PAGE)
    return path


@pytest.fixture
def scored(made):
    return [made("vanilla", "qasper"), made("staterag", "qasper")]


def write(page, scored, name="quality"):
    write_into(page, name, lambda asked: asked_table(scored, name, asked))


def test_a_table_stands_between_its_marks_and_the_rest_of_the_page_stays(page, scored):
    write(page, scored)
    text = page.read_text()
    before, _, rest = text.partition("<!-- table quality: f1, ret less staterag -->\n")
    table, _, after = rest.partition("<!-- end of quality -->")
    assert (before, after) == ("# Results\n\nBefore.\n\n", "\n\nAfter: 0.123.\n")
    assert "an old table" not in text
    [head] = [line for line in table.splitlines() if line.startswith("| Method")]
    assert [part in head for part in ("F1", "RET", "F1 less StateRAG")] == [True] * 3
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    assert rows["Vanilla RAG"].count("[") == 3
    assert rows["**StateRAG**"].rstrip(" |").endswith("–")
    write(page, scored)
    assert page.read_text() == text


def test_a_page_without_the_mark_says_how_to_make_it(page, scored):
    with pytest.raises(InputError, match="no table 'evidence', but quality; mark its place"):
        write(page, scored, "evidence")
    with pytest.raises(InputError, match="can't be read"):
        write(page.parent / "missing.md", scored)
    assert page.read_text() == PAGE


def test_a_mark_that_asks_for_an_unknown_metric_changes_nothing(page, scored):
    page.write_text(PAGE.replace("f1, ret", "f1, fame"))
    with pytest.raises(InputError, match="asks for 'fame'"):
        write(page, scored)
    assert "an old table" in page.read_text()
