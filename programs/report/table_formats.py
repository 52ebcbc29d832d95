"""Tables as Markdown, LaTeX and CSV. Every name in them is data: it is escaped for the format that it goes into."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from programs.atomic import replacing
from programs.report.tables import (
    INTERVALS,
    VALUES,
    Cell,
    Column,
    Layout,
    Shown,
    Table,
    TextRow,
    blocks,
    caption,
    footnotes,
)
from programs.report.visible import visible

MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]#|~^$])")
MARKDOWN_BLOCK = re.compile(r"^(\d+)(?=[.)](?:\s|$))|^(?=[-+=])")
"""What at the beginning of a paragraph would make it a list or a heading."""
LINK = re.compile(r"(?<=[a-z]):(?=//)|(?<=www)\.", re.IGNORECASE)
"""The sign in an address by which a page makes a link of it."""
DIGITS = re.compile(r"[\d.,/ –\[\]()-]*")
"""Numbers and their intervals, which Markdown leaves alone."""
MARKDOWN_MARKS = {"": "{}", "best": "**{}**", "second": "<u>{}</u>"}
LATEX_MARKS = {"": "{}", "best": r"\textbf{{{}}}", "second": r"\underline{{{}}}"}
LATEX_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": r"\textendash{}",
    "−": "$-$",
    "±": r"$\pm$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "\ufffd": "?",
}
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
COLUMNS_IN_ONE = 6
"""A LaTeX table with more columns goes over both columns of the page."""
CSV_HEADER = ("table", "group", "row", "column", "value", "low", "high", "n", "published", "note")


def markdown(table: Table, layout: Layout = VALUES) -> str:
    """Render for a page. Markdown has one line of headings, so those that span are put before each label."""
    head = [table.stub, *(" ".join((*column.heading[-1:], column.title)) for column in table.columns)]
    rows = [[escape_markdown(text) for text in head], ["---", *("---:" for _ in table.columns)]]
    for block in blocks(table, layout):
        if block.group:
            rows.append([f"*{escape_markdown(block.group)}*", *("" for _ in table.columns)])
        rows += [[_markdown_label(line), *map(_markdown_cell, line.cells)] for line in block.lines]
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = "".join(f"\n{escape_markdown(note)}\n" for note in footnotes(table, layout))
    return f"### {escape_markdown(caption(table, layout))}\n\n{body}\n{notes}"


def latex(table: Table, layout: Layout = VALUES) -> str:
    """Render for a paper: a table float with booktabs rules."""
    place = "table*" if len(table.columns) > COLUMNS_IN_ONE else "table"
    rows = [rf"\begin{{{place}}}[t]", r"\centering", r"\small", rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}"]
    rows += [r"\toprule", *_latex_headings(table), r"\midrule"]
    for number, block in enumerate(blocks(table, layout)):
        rows += [r"\midrule"] if number else []
        if block.group:
            rows.append(rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\textit{{{escape_latex(block.group)}}}}} \\")
        rows += [_latex_line(line) for line in block.lines]
    said = " ".join(note.rstrip(".") + "." for note in (caption(table, layout), *footnotes(table, layout)))
    label = re.sub("[^a-z0-9]+", "-", table.name.lower()) + ("-intervals" if layout.intervals else "")
    rows += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escape_latex(said)}}}", rf"\label{{tab:{label}}}"]
    rows.append(rf"\end{{{place}}}")
    return "\n".join(rows) + "\n"


def comma_separated(tables: Iterable[Table]) -> str:
    """Render for a program: a line a cell, with every digit of its numbers, and nothing where there is no number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                names = map(escape_csv, (table.name, row.group, row.label, column.key))
                values = map(_raw, (cell.value, cell.low, cell.high))
                writer.writerow([*names, *values, cell.n, _raw(cell.published), escape_csv(_said(cell))])
    return out.getvalue()


def write_tables(tables: Sequence[Table], folder: Path, layout: Layout | None = None) -> list[Path]:
    """Write `tables.md`, `tables.tex` and `tables.csv`.

    Without a layout the first two have each table again with its intervals.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shown = [(table, how) for table in tables for how in ([layout] if layout else _layouts(table))]
    pages = {
        "tables.md": "\n".join(markdown(table, how) for table, how in shown),
        "tables.tex": "\n".join(latex(table, how) for table, how in shown),
        "tables.csv": comma_separated(tables),
    }
    for name, text in pages.items():
        with replacing(folder / name) as file:
            file.write(text.encode())
    return [folder / name for name in pages]


def escape_markdown(text: str) -> str:
    """Keep a text from being read as Markdown, HTML or the end of a cell."""
    plain = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return LINK.sub(r"\\\g<0>", MARKDOWN_BLOCK.sub(r"\1\\", MARKDOWN_SIGNS.sub(r"\\\1", plain)))


def escape_latex(text: str) -> str:
    r"""Keep a text from being read as LaTeX. A bracket or star after `\\` would be taken for its argument."""
    escaped = "".join(LATEX_SIGNS.get(character, character) for character in _one_line(text))
    return re.sub("-(?=-)", "-{}", escaped)


def escape_csv(text: str) -> str:
    """Keep a spreadsheet from running a text: an apostrophe before what would start a formula makes it a text."""
    plain = _one_line(text)
    return f"'{plain}" if plain.startswith(FORMULA) else plain


def _said(cell: Cell) -> str:
    """Give what stands beside a number, or in the place of one."""
    return cell.note or ("" if math.isfinite(cell.value) else cell.text)


def _layouts(table: Table) -> tuple[Layout, ...]:
    return (VALUES, INTERVALS) if table.has_intervals else (VALUES,)


def _one_line(text: str) -> str:
    return " ".join(visible(text).split())


def _raw(value: float) -> str:
    return repr(float(value)) if math.isfinite(value) else ""


def _markdown_label(line: TextRow) -> str:
    label = escape_markdown(line.label)
    return f"*{label}*" if line.is_paper else f"**{label}**" if line.emphasised else label


def _markdown_cell(cell: Shown) -> str:
    text = cell.text if DIGITS.fullmatch(cell.text) else escape_markdown(cell.text)
    return MARKDOWN_MARKS[cell.mark].format(text)


def _latex_line(line: TextRow) -> str:
    label = escape_latex(line.label)
    shown = rf"\textit{{{label}}}" if line.is_paper else rf"\textbf{{{label}}}" if line.emphasised else label
    cells = (LATEX_MARKS[cell.mark].format(escape_latex(cell.text)) for cell in line.cells)
    return " & ".join((shown, *cells)) + r" \\"


def _latex_headings(table: Table) -> Iterator[str]:
    for level in range(table.depth):
        cells, rules, at = [], [], 2
        for heading, columns in groupby(table.columns, key=lambda column: _above(column, level)):
            width = len(list(columns))
            text = escape_latex(heading[-1]) if heading else ""
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{text}}}" if text else " & ".join([""] * width))
            rules += [rf"\cmidrule(lr){{{at}-{at + width - 1}}}"] if text else []
            at += width
        yield " & ".join(("", *cells)) + r" \\"
        yield "".join(rules)
    yield " & ".join(map(escape_latex, (table.stub, *(column.title for column in table.columns)))) + r" \\"


def _above(column: Column, level: int) -> tuple[str, ...]:
    """Give the headings down to a level: equal texts under different headings do not join."""
    return column.heading[: level + 1] if len(column.heading) > level else ()
