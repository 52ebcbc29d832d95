"""Markdown, LaTeX and CSV: nothing in a name can break out of its cell."""

from __future__ import annotations

import csv
import html
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from programs.report.console import visible
from programs.report.table_formats import (
    comma_separated,
    escape_csv,
    escape_latex,
    escape_markdown,
    latex,
    markdown,
    write_tables,
)
from programs.report.tables import INTERVALS, Cell, Column, Table, TableRow

NASTY = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("|\n\r\\{}[]*&%$#_^~<>\"'`=+-@\t")), max_size=30)


def small(label: str = "a", **more) -> Table:
    columns = (Column("h.f1", "F1", 3, True, ("Top", "HotpotQA")), Column("h.ret", "RET", 1, None, ("Top", "HotpotQA")))
    rows = (
        TableRow(label, (Cell(0.25, 0.2, 0.3, 40, 0.9), Cell(1234.5, n=40))),
        TableRow("b", (Cell(0.5, n=40), Cell())),
    )
    return Table("small", "A title", columns, rows, **more)


def table_lines(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("|")]


def unescaped_bars(line: str) -> int:
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))


def test_markdown_marks_the_best_bold_and_the_second_underlined():
    page = markdown(small())
    assert "**0.500**" in page
    assert "<u>0.250</u>" in page
    assert "HotpotQA F1↑" in page
    assert "1,234.5 |" in page
    assert "–" in page


def test_markdown_shows_the_papers_row_and_n():
    page = markdown(small(about_published="whose numbers"))
    assert "| *a (paper)* | 0.900 | – |" in page
    assert "n = 40" in page
    assert "whose numbers" in page


def test_markdown_leaves_numbers_and_brackets_readable():
    assert "0.250 [0.200, 0.300]" in markdown(small(), INTERVALS)


@given(NASTY)
def test_a_name_can_not_add_a_cell_or_a_line_to_markdown(name):
    page = markdown(small(name))
    lines = table_lines(page)
    assert len(lines) == 5
    assert {unescaped_bars(line) for line in lines} == {4}


@given(NASTY)
def test_no_markup_of_a_name_survives_in_markdown(name):
    escaped = escape_markdown(name)
    assert "<" not in escaped
    assert "\n" not in escaped
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`|\[\]]", escaped)


@given(NASTY)
def test_a_paragraph_of_any_text_is_that_text(text):
    shown = MarkdownIt("commonmark").enable("table").render(escape_markdown(text))
    assert html.unescape(re.sub("</?p>|\n", "", shown)) == " ".join(visible(text).split())


@pytest.mark.parametrize(
    "text", ["- x", "+ x", "12. x", "1) x", "> x", "---", "===", "https://evil.example", "www.evil"]
)
def test_a_note_that_begins_like_a_list_or_holds_an_address_is_a_paragraph_of_text(text):
    page = MarkdownIt("commonmark").enable("table").render(markdown(small(notes=(text,))))
    assert f"<p>{html.escape(text, quote=False)}</p>" in page
    assert "<a" not in page
    assert not re.search(r"[a-z]://|www\.", escape_markdown(text))


@given(NASTY, NASTY)
def test_a_table_is_read_back_with_its_names_whatever_they_are(label, workload):
    table = Table("t", workload, (Column("k", label),), (TableRow(label, (Cell(0.5),), workload),), stub=workload)
    page = MarkdownIt("commonmark").enable("table").render(markdown(table))
    assert page.count("<tr>") == 2 + bool(workload)
    assert len(re.findall("<t[hd][ >]", page)) == 2 * page.count("<tr>")
    assert set(re.findall(r"<(\w+)", page)) <= {"h3", "table", "thead", "tbody", "tr", "th", "td", "em", "p"}


def test_markdown_writes_html_as_text():
    assert escape_markdown("<img src=x onerror=alert(1)>&") == "&lt;img src=x onerror=alert(1)&gt;&amp;"


def test_latex_has_booktabs_rules_and_spanning_headings():
    page = latex(small())
    for part in (r"\toprule", r"\midrule", r"\bottomrule", r"\multicolumn{2}{c}{HotpotQA}", r"\cmidrule(lr){2-3}"):
        assert part in page
    assert r"\textbf{0.500}" in page
    assert r"\underline{0.250}" in page
    assert r"F1$\uparrow$" in page


def test_a_wide_table_goes_over_both_columns_of_a_page():
    wide = Table("w", "W", tuple(Column(str(i), str(i)) for i in range(7)), (TableRow("m", (Cell(),) * 7),))
    assert r"\begin{table*}" in latex(wide)
    assert r"\end{table*}" in latex(wide)
    assert r"\begin{table}" in latex(small())


def test_a_caption_is_made_of_sentences():
    assert "A title. n = 40." in latex(small())


def test_a_table_with_intervals_has_a_label_of_its_own_in_latex():
    assert r"\label{tab:small}" in latex(small())
    assert r"\label{tab:small-intervals}" in latex(small(), INTERVALS)


@given(NASTY)
def test_a_name_can_not_change_the_structure_of_latex(name):
    page, plain = latex(small(name)), latex(small("a"))
    assert page.count("\n") == plain.count("\n")
    bare = re.sub(r"\\[\\&%$#_{}]", "", page)
    assert bare.count("&") == re.sub(r"\\[\\&%$#_{}]", "", plain).count("&")
    assert bare.count("{") == bare.count("}")
    assert "%" not in bare
    assert "#" not in bare


@pytest.mark.parametrize("name", ["[2pt] x", "*x", "[x]"])
def test_a_bracket_or_star_after_a_line_break_is_not_its_argument_in_latex(name):
    assert escape_latex(name)[0] == "{"


@pytest.mark.parametrize("name", ["a--b", "\\input{secret}", "$x$ & y % z", '~^<>|"`'])
def test_signs_of_latex_are_written_as_signs(name):
    escaped = escape_latex(name)
    assert "--" not in escaped
    assert r"\input" not in escaped
    assert not re.search(r"(?<!\\)[$&%#_]", escaped)


def test_csv_has_every_digit_and_a_field_for_each_number():
    value = 1 / 3
    made = Table("t", "T", (Column("f1", "F1"),), (TableRow("m", (Cell(value, 0.1, 0.7, 12, 0.4),)),))
    [line] = csv.DictReader(io.StringIO(comma_separated([made])))
    assert float(line["value"]) == value
    assert (line["low"], line["high"], line["n"], line["published"]) == ("0.1", "0.7", "12", "0.4")
    assert (line["table"], line["row"], line["column"]) == ("t", "m", "f1")


def test_csv_leaves_what_is_not_known_empty():
    made = Table("t", "T", (Column("f1", "F1"),), (TableRow("m", (Cell(),)),))
    [line] = csv.DictReader(io.StringIO(comma_separated([made])))
    assert {line[name] for name in ("value", "low", "high", "n", "published")} == {""}


def test_a_negative_number_stays_a_number_in_csv():
    made = Table("t", "T", (Column("d", "D"),), (TableRow("m", (Cell(-0.5),)),))
    assert ",-0.5," in comma_separated([made])


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1+1", "\n=1+1", "＝1+1", "  =1"])
def test_a_name_is_not_run_as_a_formula(name):
    assert escape_csv(name).startswith("'")


@given(NASTY, st.floats(allow_nan=False, allow_infinity=False))
def test_csv_reads_back_as_one_line_a_cell(name, value):
    made = Table("t", "T", (Column("f1", "F1"),), (TableRow(name, (Cell(value),)),))
    lines = list(csv.reader(io.StringIO(comma_separated([made]))))
    assert [len(line) for line in lines] == [10, 10]
    assert float(lines[1][4]) == value
    assert not lines[1][2].startswith(("=", "+", "-", "@"))


def test_three_files_are_written_and_intervals_follow_the_values(tmp_path):
    plain = Table("plain", "Plain", (Column("f1", "F1"),), (TableRow("m", (Cell(0.5),)),))
    written = write_tables([small(), plain], tmp_path / "out")
    assert [path.name for path in written] == ["tables.md", "tables.tex", "tables.csv"]
    page = written[0].read_text(encoding="utf-8")
    assert page.count("### ") == 3
    assert page.index("### A title\n") < page.index("### A title, with intervals")
    assert {line["table"] for line in csv.DictReader(written[2].open(encoding="utf-8"))} == {"small", "plain"}
