"""`python -m optimize.summary`: a search's folder as a page and a figure, also while the search runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optimize.importance import importance
from optimize.search_page import search_page
from optimize.search_record import read_search
from programs.atomic import replacing
from programs.commands.terminal import err, out, plain_errors
from programs.errors import InputError

STEM = "search"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def summarise(
    folder: Annotated[Path, typer.Argument(help="the folder of a search", show_default=False)],
    to: Annotated[Path | None, typer.Option("--out", help="where to write, if not there")] = None,
) -> None:
    """Write search.html, search.svg and search.png: how a search went, and which parameters matter."""
    with plain_errors():
        with err.status("measuring and drawing …"):
            written = write_summary(folder, to)
        out.print(f"{written[0].parent}: {', '.join(path.name for path in written)}", markup=False, soft_wrap=True)


def write_summary(folder: Path, to: Path | None = None) -> list[Path]:
    """Read a search's folder and write its page and figure, the page first."""
    from optimize.search_figure import search_figure, title
    from programs.report.figure_style import save, style

    search = read_search(folder)
    where = to or folder
    shares = importance(search)
    try:
        with style():
            vector, image = save(search_figure(search, shares), where, STEM)
        html = where / f"{STEM}.html"
        with replacing(html) as file:
            file.write(search_page(search, shares, title(search), vector.read_text("utf-8")).encode())
    except OSError as error:
        raise InputError(f"{where}: can't be written ({error.strerror}); name another --out") from error
    return [html, vector, image]


if __name__ == "__main__":
    app()
