"""How trials look in every panel of a search's figure, so that one legend explains them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from optimize.search_record import SearchRecord, TrialRecord
from programs.report.figure_style import BLUE, GREY, ORANGE, VERMILLION

DARK = "#333333"
FILLED = "oDs"
MANY = 300
"""Points of a panel from which on an SVG holds them as one picture: a file of megabytes helps nobody."""


@dataclass(frozen=True)
class Mark:
    """A kind of trial."""

    label: str
    colour: str
    marker: str
    size: float
    alpha: float = 1.0
    layer: int = 2

    @property
    def handle(self) -> Line2D:
        """Its entry in a legend."""
        return Line2D(
            [],
            [],
            linestyle="none",
            label=self.label,
            marker=self.marker,
            markersize=self.size + 0.5,
            markeredgecolor=self.edge,
            color=self.colour,
        )

    @property
    def edge(self) -> str:
        """Filled marks have a light edge, so that they can be told apart where they lie on each other."""
        return "white" if self.marker in FILLED else self.colour


COMPLETE = Mark("Complete", BLUE, "o", 4.0, 0.6)
PRUNED = Mark("Pruned, on the questions it saw", GREY, "x", 3.0, 0.7, 1)
FAILED = Mark("Failed", DARK, "|", 5.0)
START = Mark("Start", ORANGE, "s", 5.5, layer=5)
CHOSEN = Mark("Chosen", VERMILLION, "D", 6.0, layer=6)


def named(search: SearchRecord) -> list[tuple[TrialRecord, Mark, str]]:
    """Give the trials that have a name of their own, as they are marked and called."""
    chosen, start = search.chosen, search.start
    if chosen is not None and chosen is start:
        return [(chosen, CHOSEN, "start, chosen")]
    found = [(start, START, "start")] if start else []
    return found + ([(chosen, CHOSEN, f"chosen, trial {chosen.number}")] if chosen and chosen.complete else [])


def dots(axes: Axes, across: Sequence[float], up: Sequence[float], mark: Mark) -> None:
    """Draw one mark at each point; where there are many, small ones without an edge."""
    many = len(across) > MANY
    axes.plot(
        across,
        up,
        linestyle="none",
        marker=mark.marker,
        markersize=mark.size * (0.7 if many else 1.0),
        markeredgewidth=(0.0 if many else 0.5) if mark.marker in FILLED else 0.8,
        markeredgecolor=mark.edge,
        color=mark.colour,
        alpha=mark.alpha * (0.6 if many else 1.0),
        zorder=mark.layer,
        rasterized=many,
    )


def marks(search: SearchRecord, trials: Iterable[TrialRecord]) -> list[Mark]:
    """Give the marks that a legend must explain."""
    states = {trial.state for trial in trials}
    kinds = (("complete", COMPLETE), ("pruned", PRUNED), ("failed", FAILED))
    return [mark for state, mark in kinds if state in states] + [mark for _, mark, _ in named(search)]
