"""Results at the edges of what figures and tables must show; `python -m tests.report.edge_cases FOLDER` draws them all."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

from metrics.funnel import Funnel
from metrics.scores import ScoreTable
from programs.report.component_figures import funnel_figure
from programs.report.figure_style import save, style
from programs.report.figures import write_figures
from programs.report.names import METHODS
from programs.report.results import Results
from tests.report.conftest import LONGBENCH, make
from tests.report.funnels import a_funnel

SILENT = dict.fromkeys(("em", "f1", "accuracy", "anls"), math.nan)
NOTHING = {
    "em": 0.0,
    "f1": 0.0,
    "accuracy": 0.0,
    "anls": 0.0,
    "passage_recall": 0.0,
    "title_recall": 0.0,
    "answer_in_evidence": 0.0,
    "incomplete": 1.0,
    "reached_reader": 0.0,
    "tokens_reader": 0.0,
    "rejections": 1.0,
}
EVERYTHING = dict.fromkeys(
    ("em", "f1", "accuracy", "anls", "passage_recall", "title_recall", "answer_in_evidence"), 1.0
)
LONG = "a-package-of-somebody-else-with-a-name-that-is-far-too-long-for-any-figure"
WITHOUT = "staterag-without-mars"


def _perfect() -> list[ScoreTable]:
    return [make(name, "qasper", seconds=s, **EVERYTHING) for name, s in (("vanilla", 0.5), ("staterag", 5.0))]


def _all_incomplete() -> list[ScoreTable]:
    return [make(name, "qasper", **NOTHING) for name in ("vanilla", "react", "staterag")]


def _equal() -> list[ScoreTable]:
    same = {"f1": 0.5, "passage_recall": 0.5, "answer_in_evidence": 0.5, "latency": 2.0, "tokens_index": 800.0}
    return [make(name, "qasper", **same) for name in ("vanilla", "dosrag", "react", "raptor", "staterag")]


def _twelve() -> list[ScoreTable]:
    names = [*METHODS, "one-of-mine", "another-of-mine"][:12]
    return [
        make(name, "qasper", strength=0.3 + 0.03 * at, seconds=0.5 * 1.4**at, tokens=200 * 1.5**at)
        for at, name in enumerate(names)
    ]


def _four_workloads() -> list[ScoreTable]:
    methods = {"vanilla": (0.35, 0.5), "react": (0.45, 3.0), "staterag": (0.6, 5.0), WITHOUT: (0.5, 4.0)}
    places = (*LONGBENCH, "qasper", "docvqa", "own")
    return [make(name, place, strength=s, seconds=t) for name, (s, t) in methods.items() for place in places]


CASES: dict[str, Callable[[], list[ScoreTable]]] = {
    "usual": lambda: [
        make(name, task, strength=s, seconds=t)
        for name, (s, t) in {"vanilla": (0.35, 0.5), "react": (0.45, 3.0), "staterag": (0.6, 5.0)}.items()
        for task in LONGBENCH
    ],
    "several-workloads": _four_workloads,
    "perfect": _perfect,
    "all-incomplete": _all_incomplete,
    "all-equal": _equal,
    "twelve-methods": _twelve,
    "one-method": lambda: [make("staterag", "qasper")],
    "one-query": lambda: [make(name, "qasper", 1, seconds=s) for name, s in (("vanilla", 1.0), ("staterag", 1.1))],
    "two-queries": lambda: [make(name, "qasper", 2, seconds=9.0) for name in ("vanilla", "react", "staterag")],
    "little-spread": lambda: [
        make(name, "qasper", latency=2.0 + 0.05 * at, tokens_index=1000.0 + 50 * at)
        for at, name in enumerate(("vanilla", "react", "raptor", "staterag"))
    ],
    "great-spread": lambda: [
        make(name, "qasper", latency=0.01 * 30**at, tokens_index=3.0 * 40**at)
        for at, name in enumerate(("vanilla", "react", "raptor", "staterag"))
    ],
    "low-quality": lambda: [
        make(name, "qasper", strength=0.02, seconds=s, f1=0.003 * s)
        for name, s in (("vanilla", 0.5), ("staterag", 5.0))
    ],
    "without-a-reader": lambda: [make(name, "qasper", **SILENT) for name in ("vanilla", "dosrag", "staterag")],
    "missing-metrics": lambda: [
        make("vanilla", "qasper"),
        make("react", "qasper", f1=math.nan, passage_recall=math.nan),
        make("staterag", "qasper", latency=math.nan, answer_in_evidence=math.nan),
    ],
    "no-tokens": lambda: [
        make(name, "qasper", tokens_index=0.0, tokens_aux=0.0, ret=0.0, memory_reads=0.0, memory_hits=0.0)
        for name in ("vanilla", "staterag")
    ],
    "no-latency": lambda: [make(name, "qasper", latency=0.0) for name in ("vanilla", "staterag")],
    "long-names": lambda: [
        make(name, f"own/{LONG}", strength=0.4 + 0.1 * at, seconds=1.0 + at)
        for at, name in enumerate((LONG, f"{LONG}-too", f"{LONG}/staterag"))
    ],
    "no-hits": lambda: [make("staterag", task, memory_hits=0.0) for task in LONGBENCH],
    "without-mars": lambda: [
        make(name, "qasper", **values) for name, values in ((WITHOUT, NOTHING), ("staterag", EVERYTHING))
    ],
    "mars-alike": lambda: [make(name, "qasper", **NOTHING) for name in (WITHOUT, "staterag")],
}

FUNNELS: dict[str, Callable[[], list[Funnel]]] = {
    "usual": lambda: [a_funnel("vanilla", {None: ("admitted",)}), a_funnel()],
    "all-admitted": lambda: [a_funnel(kinds={None: ("admitted",) * 5})],
    "all-incomplete": lambda: [a_funnel(kinds={None: ("gold",) * 5})],
    "one-passage": lambda: [a_funnel(kinds={"bridge": ("kept",)})],
    "thin-parts": lambda: [
        a_funnel(kinds={None: ("admitted",) * 60 + ("carried", "kept", "candidates", "reached", "completed", "gold")})
    ],
    "many-types": lambda: [
        a_funnel(name, {f"type-{at}": ("admitted", "kept", "gold")[: 1 + at % 3] for at in range(8)})
        for name in ("vanilla", "react", "staterag")
    ],
    "long-names": lambda: [a_funnel(f"{LONG}/{LONG}", {LONG: ("admitted", "gold"), "short": ("kept",)})],
}


def main(folder: Path) -> None:
    for name, tables in CASES.items():
        for path in write_figures(Results(tables()), folder / name):
            path.rename(folder / f"{name}-{path.name}")
        (folder / name).rmdir() if (folder / name).exists() else None
    with style():
        for name, funnels in FUNNELS.items():
            save(funnel_figure(funnels()), folder, f"funnel-{name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
