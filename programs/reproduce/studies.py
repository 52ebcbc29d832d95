"""Every study of a reproduction, as data: what runs, on which questions, in which ways, and which tables it fills.

The paper's own come first, in its order, then those that it leaves to others. A run that several studies share is made
once.
"""

from __future__ import annotations

from dataclasses import dataclass

from programs.errors import InputError
from programs.methods.registry import specs
from programs.report.names import CARRIERS, DOCVQA, ELEMENTS, FLAT_FUSION, LONGBENCH, QASPER, REMOVALS, STATERAG

COSTLY = ("react", "selfrag", "raptor", "graphrag", "memorag", "hipporag2")
"""Methods that ask a model many times a question, or about every passage before it: they may have fewer questions."""


@dataclass(frozen=True)
class Arm:
    """One way of running a method. The first of a study is what the others are compared with."""

    label: str = ""
    overrides: tuple[str, ...] = ()
    workers: int = 1
    """Queries at once at least, for what only shows where several run."""
    beyond: int = 0
    """Queries that a workload must have more of, or this way comes to the same as another."""


@dataclass(frozen=True)
class PaperStudy:
    """Methods on workloads, in one way or in several."""

    name: str
    title: str
    methods: tuple[str, ...]
    workloads: tuple[str, ...]
    fills: tuple[str, ...]
    """Names of tables and figures that its runs fill."""
    arms: tuple[Arm, ...] = (Arm(),)


MAIN = tuple(one.name for one in specs().values() if one.base is None)
"""Every method that is no variant of another: the paper's, controls, and those that packages bring."""
TASKS = tuple(LONGBENCH)
WORKLOADS = (*TASKS, QASPER, DOCVQA)
SAMPLE = "sample"
"""Stands in where there is no data: nothing on it can be held against what the paper prints."""

STUDIES = (
    PaperStudy(
        "main",
        "Answer quality and cost of every method",
        MAIN,
        WORKLOADS,
        ("longbench", "documents", "other-workloads", "answers", "evidence", "workloads", "settings", "environment"),
    ),
    PaperStudy("latency", "Quality against latency", MAIN, (*TASKS, QASPER), ("quality-latency", "latency")),
    PaperStudy(
        "ablations",
        "StateRAG without its parts, and its ranking alone",
        (STATERAG, FLAT_FUSION, *REMOVALS),
        (*TASKS, QASPER),
        ("ablations", "ablation-differences"),
    ),
    PaperStudy(
        "profiles", "Index tokens, memory, tokens and seconds by role", MAIN, TASKS, ("components", "tokens", "work")
    ),
    PaperStudy(
        "carriers",
        "The matched carrier control",
        tuple(CARRIERS),
        TASKS,
        ("carriers", "carrier-differences", "carrier-tokens", "carrier-diagnostics"),
    ),
    PaperStudy("lifecycle", "What roles propose, and how queries end", (STATERAG,), TASKS, ("role-checks", "trace")),
    PaperStudy("contract", "The contract's elements apart", tuple(ELEMENTS), TASKS, ("contract-elements",)),
    PaperStudy(
        "constrained",
        "Completions held to their schema, or only told of it",
        tuple(CARRIERS),
        TASKS,
        ("constrained",),
        (Arm("held to schemas"), Arm("told of schemas", ("lifecycle.constrained=false",))),
    ),
    PaperStudy(
        "order",
        "Strict and relaxed order of queries",
        (STATERAG,),
        TASKS,
        ("order",),
        (Arm("strict order"), Arm("relaxed order, 4 at once", ("memory.order=parallel",), workers=4)),
    ),
    PaperStudy(
        "horizon",
        "How far back memory reaches",
        (STATERAG,),
        TASKS,
        ("horizon",),
        (
            Arm("all queries before"),
            Arm("no query before", ("memory.keep_global=false",)),
            *(Arm(f"the last {k}", (f"memory.horizon={k}",), beyond=k + 1) for k in (1, 10, 100)),
        ),
    ),
)


def chosen_studies(only: str | None) -> tuple[PaperStudy, ...]:
    """Take the studies of a list of names with commas; all without one."""
    if only is None:
        return STUDIES
    known = {study.name: study for study in STUDIES}
    names = [name.strip() for name in only.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError(f"--only: no part is called {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names))
