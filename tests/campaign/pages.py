"""Pages that hold texts of strangers: Markdown, LaTeX, CSV, SVG and HTML, each read again by other code than wrote it."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.text import Text
from typer.testing import CliRunner

from optimize.search_page import write_page
from programs import run
from programs.commands.terminal import err, out
from programs.report.table_formats import comma_separated, latex, markdown
from programs.report.tables import Cell, Column, Table, TableRow
from programs.runner.evaluate import evaluate
from tests.campaign.dangerous import is_dangerous
from tests.campaign.figures import Figures
from tests.campaign.hostile_documents import HostileDocument
from tests.campaign.watch import watched
from tests.optimize.searches import ABOUT, line
from tests.support.runs import make_evaluation, scripted_runtime

DRAWN = {"svg", "defs", "g", "path", "use", "clipPath", "rect", "style", "metadata", "text", "tspan", "title"}
"""What a figure may be made of."""
CELL = re.compile(r"(?<!\\)\|")
SHOWN = 60
RUNS = 2
"""Runs whose folders have hostile names, in one report."""


def check_pages(documents: Sequence[HostileDocument], place: Path, figures: Figures) -> None:
    """Write every kind of page with these texts in it."""
    place.mkdir(parents=True)
    for document in documents:
        check_tables(document, figures)
    check_search_page(documents, place, figures)
    check_report(documents, place, figures)


def table_of(text: str) -> Table:
    """A table with a text wherever one can stand."""
    columns = (Column("a", text, heading=(text,)), Column("b", text))
    rows = (
        TableRow(text, (Cell(0.5, note=text), Cell(1.0, text=text)), group=text),
        TableRow("plain", (Cell(1.0), Cell(2.0))),
    )
    return Table("campaign", text, columns, rows, stub=text, notes=(text,), about_intervals=text)


def check_tables(document: HostileDocument, figures: Figures) -> None:
    kind, table, harmless = document.kind, table_of(document.text), table_of("harmless")
    page = markdown(table)
    lines = [part for part in page.splitlines() if part.startswith("|")]
    figures.expect({len(CELL.findall(part)) for part in lines} == {4}, f"{kind}: breaks a Markdown table")
    figures.expect(
        len(lines) == len([p for p in markdown(harmless).splitlines() if p.startswith("|")]), f"{kind}: adds lines"
    )
    figures.expect(not re.search(r"<(?!/?u>)", page), f"{kind}: HTML in Markdown")
    figures.expect(not re.search(r"(?<!\\)(?:\\\\)*!?\[[^\]]*(?<!\\)\]\(", page), f"{kind}: a link in Markdown")
    typeset = latex(table)
    known = set(re.findall(r"\\([a-zA-Z]+)", latex(harmless))) | SPELT
    strange = set(re.findall(r"\\([a-zA-Z]+)", typeset)) - known
    figures.expect(not strange, f"{kind}: LaTeX of its own: {sorted(strange)}")
    figures.expect(balanced(typeset), f"{kind}: LaTeX without its other brace")
    for row in csv.reader(io.StringIO(comma_separated([table]))):
        odd = [
            cell for cell in row if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not number(cell))
        ]
        figures.expect(not odd, f"{kind}: a formula in CSV: {odd[:1]}")
    for written in (page, typeset, comma_separated([table])):
        figures.expect(inert(written), f"{kind}: control characters in a table")


SPELT = {"textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "textquotedbl"} | {
    "textasciigrave", "uparrow", "downarrow", "textendash", "pm", "Delta", "kappa", "dots"
}  # fmt: skip
"""The commands by which signs are spelt."""


def check_search_page(documents: Sequence[HostileDocument], place: Path, figures: Figures) -> None:
    """The page of a search has the elements that it has with harmless texts."""
    expected = elements(search_page(["harmless"] * len(documents), place / "harmless"))
    found = elements(search_page([document.text for document in documents], place / "hostile"))
    figures.expect(found == expected, f"search.html: elements of its own: {dict(found - expected)}")


def search_page(texts: Sequence[str], folder: Path) -> str:
    folder.mkdir()
    lines = [line(number) for number in range(3)]
    for number, row in enumerate(lines):
        row["parameters"] |= {"navigation.paths": texts[number % len(texts)] + str(number)}
    about = ABOUT | {"method": texts[0], "preset": texts[-1], "rule": " ".join(texts)}
    [path] = write_page(folder, about, lines, [Text(text[:SHOWN]) for text in texts])
    return path.read_text(encoding="utf-8")


class Elements(HTMLParser):
    """Counts the elements of a page that could do something, with the attributes that could."""

    def __init__(self) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("span", "br"):
            self.found[tag] += 1
        self.found.update(f"{tag} {name}" for name, _ in attributes if name.startswith("on") or name in ("src", "href"))


def elements(page: str) -> Counter[str]:
    parser = Elements()
    parser.feed(page)
    return parser.found


def check_report(documents: Sequence[HostileDocument], place: Path, figures: Figures) -> None:
    """Report runs whose folders have hostile names."""
    evaluation = make_evaluation("vanilla,dosrag", queries=4)
    first = place / "run"
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(), first)
    names = [document.name.removesuffix(".md") for document in documents if not document.name.startswith(document.kind)]
    folders = [shutil.copytree(first, place / "runs" / name) for name in names[:RUNS]]
    with pytest.MonkeyPatch.context() as patch, watched(place) as watch:
        for console in (out, err):
            patch.setattr(console, "_width", 400)
        result = CliRunner().invoke(run.app, ["report", *map(str, folders), "--out", str(place / "report")])
    for deed in watch.seen:
        figures.find(f"report: {deed}")
    said = f"{type(result.exception).__name__}: {result.exception}" if result.exception else ""
    if not figures.expect(
        result.exit_code == 0, f"report of runs called {names[:RUNS]}: {said[:120]} {result.output[-160:]}"
    ):
        return
    figures.expect(inert(result.output), f"report: control characters on the screen, of runs called {names[:RUNS]}")
    for figure in (place / "report").glob("*.svg"):
        parts = {element.tag.rpartition("}")[2] for element in ElementTree.parse(figure).iter()}
        strange = {part for part in parts - DRAWN if part[:1].islower() and part not in METADATA}
        figures.expect(not strange, f"{figure.name}: elements of its own: {sorted(strange)}")
        figures.expect("href" not in re.sub(r'xlink:href="#', "", figure.read_text()), f"{figure.name}: a link")


METADATA = {"date", "format", "type", "creator", "title"}
"""What a figure says of itself, in words of Dublin Core."""


def inert(text: str) -> bool:
    return not any(map(is_dangerous, text))


def balanced(typeset: str) -> bool:
    bare = re.sub(r"\\[{}\\]", "", typeset)
    return bare.count("{") == bare.count("}")


def number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
