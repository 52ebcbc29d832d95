"""What a part of the campaign did and what it found, as JSON lines, on the terminal and in the page of the tests."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from programs.report.page import write_into
from programs.report.tables import Cell, Column, Table, TableRow

PAGE = Path(__file__).parents[1] / "README.md"
TABLE = "campaign"
KEPT = 40
"""Different findings told in words; the rest are only counted."""


@dataclass
class Figures:
    """One part: what was done how often, and what did not hold."""

    part: str
    seed: int
    unit: str
    """What is counted: kills, faults, proposals."""
    count: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    """How often of which kind."""
    findings: Counter[str] = field(default_factory=Counter)
    """What did not hold, and how often."""

    @property
    def found(self) -> int:
        """How often something did not hold."""
        return self.findings.total()

    def find(self, what: str) -> None:
        """Note what did not hold."""
        self.findings[what] += 1

    def expect(self, holds: bool, what: str | Callable[[], str]) -> bool:
        """Note it if something does not hold, and go on."""
        if not holds:
            self.find(what if isinstance(what, str) else what())
        return holds

    def line(self) -> str:
        """All of it as a line of JSON."""
        said = {
            "part": self.part,
            "seed": self.seed,
            self.unit: self.count,
            "kinds": dict(sorted(self.kinds.items())),
            "seconds": round(self.seconds, 1),
            "found": self.found,
            "findings": dict(self.findings.most_common(KEPT)),
        }
        return json.dumps(said, ensure_ascii=True)


Part = Callable[[int, int, Path], Figures]
"""So many of it, by this seed, in this folder."""


@contextmanager
def measured(part: str, seed: int, unit: str) -> Iterator[Figures]:
    """Open a part's figures; its seconds run until it ends."""
    figures = Figures(part, seed, unit)
    started = time.monotonic()
    try:
        yield figures
    finally:
        figures.seconds = time.monotonic() - started


def table(parts: Sequence[Figures]) -> Table:
    """Tabulate parts, with the kinds of each part below it."""
    columns = (Column("count", "how many", 0), Column("found", "did not hold", 0), Column("seconds", "seconds", 0))
    rows = [
        TableRow(f"{part.part}: {part.unit}", (Cell(part.count), Cell(part.found), Cell(part.seconds)))
        for part in parts
    ]
    kinds = [
        f"{part.part} (seed {part.seed}): "
        + ", ".join(f"{name} {number:,}" for name, number in sorted(part.kinds.items()))
        for part in parts
        if part.kinds
    ]
    return Table(TABLE, "The last campaign", columns, tuple(rows), stub="Part", notes=tuple(kinds))


def write_page(parts: Sequence[Figures], page: Path = PAGE) -> None:
    """Write the table between its marks in the page of the tests."""
    write_into(page, TABLE, lambda asked: table(parts))
