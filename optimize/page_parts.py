"""Parts of a page, as elements of a tree: what is put into one is text, and can't become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, tostring

from programs.report.console import visible

Content = str | Element

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for the page: nothing."""
STYLE = """
:root { color-scheme: light; --ink: #222; --soft: #666; --rule: #ddd; --accent: #D55E00; --chosen: #fdf1e7 }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 66rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem }
p { margin: .3rem 0; max-width: 48rem }
.soft { color: var(--soft) }
strong { color: var(--accent) }
figure { margin: 1.5rem 0 }
figure svg { width: 100%; height: auto }
.table { overflow-x: auto; margin: .7rem 0 }
table { border-collapse: collapse; font-size: .87rem }
th, td { padding: .25rem 1rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule) }
th { font-weight: 600; vertical-align: bottom }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.marked td { background: var(--chosen) }
code { font-size: .82rem }
"""


def element(tag: str, *content: Content, **attributes: str) -> Element:
    """Make an element of texts and other elements, in this order. A class is called `kind`."""
    made = Element(tag, {("class" if name == "kind" else name): value for name, value in attributes.items()})
    last: Element | None = None
    for part in content:
        if isinstance(part, Element):
            made.append(part)
            last = part
        elif last is None:
            made.text = (made.text or "") + visible(part)
        else:
            last.tail = (last.tail or "") + visible(part)
    return made


def code(text: str) -> Element:
    """Show a setting as it is written."""
    return element("code", text)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Content]], numbers: range, marked: int | None = None
) -> Element:
    """Make a table. `numbers` are the columns to be read downwards, `marked` is the row to stand out."""

    def line(tag: str, cells: Sequence[Content]) -> list[Element]:
        return [element(tag, cell, **{"kind": "number"} if at in numbers else {}) for at, cell in enumerate(cells)]

    body = [
        element("tr", *line("td", cells), **{"kind": "marked"} if at == marked else {}) for at, cells in enumerate(rows)
    ]
    return element("div", element("table", element("tr", *line("th", heads)), *body), kind="table")


def page(title: str, before: Iterable[Element], svg: str, label: str, after: Iterable[Element]) -> str:
    """Write a page with a figure in it, which is inside the page and not beside it."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        Element("meta", {"http-equiv": "Content-Security-Policy", "content": POLICY}),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        element("style", STYLE),
    )
    opening = _written(Element("figure", {"role": "img", "aria-label": visible(label)})).removesuffix("</figure>")
    figure = f"{opening}{svg[svg.index('<svg') :]}</figure>"
    body = "\n".join([*map(_written, before), figure, *map(_written, after)])
    return f'<!DOCTYPE html>\n<html lang="en">{_written(head)}\n<body>\n{body}\n</body></html>\n'


def _written(made: Element) -> str:
    return tostring(made, encoding="unicode", method="html")
