"""What the paper says of its results, and what the studies beyond it ask, as data that paired comparisons can judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from programs.methods.registry import specs
from programs.report.names import DOCVQA, FLAT_FUSION, FREE_FORM, LONGBENCH, MACRO, QASPER, REMOVALS, STATERAG, TYPED

PAPERS = ("vanilla", "react", "selfrag", "graphrag", "dosrag", "raptor", "memorag", "hipporag2")
"""The baselines that the paper has."""
BASELINES = tuple(one.name for one in specs().values() if one.base is None and one.name != STATERAG)
"""All that is not StateRAG: the paper's baselines, controls, and methods that packages bring."""
POINTS = ("em", "f1", "accuracy")
FOUND = ("passage_found", "recall@5")
Where = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Claim:
    """That a system has more of something than each of some others, or less of it."""

    said: str
    system: str
    others: tuple[str, ...]
    where: Where
    """Metrics by workload."""
    elsewhere: tuple[str, ...]
    """Metrics on workloads that are not the paper's, where none of the paper's was run."""
    less: bool = False
    is_papers: bool = True


EACH_TASK: Where = dict.fromkeys(LONGBENCH, ("em", "f1")) | {QASPER: POINTS, DOCVQA: ("anls", "accuracy")}
EVERYWHERE = (*LONGBENCH, QASPER, DOCVQA)
BOTH: Where = {MACRO: POINTS, QASPER: POINTS}

CLAIMS = (
    Claim("StateRAG scores best of all methods", STATERAG, PAPERS, EACH_TASK, POINTS),
    Claim("StateRAG's macro averages exceed ReAct's", STATERAG, ("react",), {MACRO: ("em", "f1")}, ("em", "f1")),
    Claim(
        "StateRAG takes fewer RET than ReAct",
        STATERAG,
        ("react",),
        dict.fromkeys(EVERYWHERE, ("ret",)),
        ("ret",),
        less=True,
    ),
    Claim(
        "Vanilla RAG takes the fewest RET",
        "vanilla",
        (STATERAG, *PAPERS[1:]),
        dict.fromkeys(EVERYWHERE, ("ret",)),
        ("ret",),
        less=True,
    ),
    *(
        Claim(f"StateRAG scores better than {label.replace('w/o', 'without')}", STATERAG, (name,), BOTH, POINTS)
        for name, label in REMOVALS.items()
    ),
    Claim("The typed carrier scores better than the free-form one", TYPED, (FREE_FORM,), {MACRO: POINTS}, POINTS),
    Claim(
        "The typed carrier takes fewer RET than the free-form one",
        TYPED,
        (FREE_FORM,),
        {MACRO: ("ret",)},
        ("ret",),
        less=True,
    ),
    Claim(
        "StateRAG is faster than HippoRAG2 and RAPTOR",
        STATERAG,
        ("hipporag2", "raptor"),
        {MACRO: ("latency",)},
        ("latency",),
        less=True,
    ),
    Claim("StateRAG is faster than RAPTOR on QASPER", STATERAG, ("raptor",), {QASPER: ("latency",)}, (), less=True),
    Claim("StateRAG is slower than HippoRAG2 on QASPER", STATERAG, ("hipporag2",), {QASPER: ("latency",)}, ()),
    Claim(
        "StateRAG scores better than its own ranking alone",
        STATERAG,
        (FLAT_FUSION,),
        BOTH,
        POINTS,
        is_papers=False,
    ),
    Claim(
        "StateRAG finds more of the gold evidence than every other method",
        STATERAG,
        BASELINES,
        dict.fromkeys((MACRO, QASPER), FOUND),
        FOUND,
        is_papers=False,
    ),
    Claim(
        "Validation before commitment scores better than types and owners without it",
        TYPED,
        ("staterag-types-ownership", "staterag-types-only"),
        {MACRO: POINTS},
        POINTS,
        is_papers=False,
    ),
    *(
        Claim(
            f"{who} fails to be parsed less often where completions are held to their schema",
            f"held to schemas/{name}",
            (f"told of schemas/{name}",),
            {MACRO: ("parse_failures",)},
            ("parse_failures",),
            less=True,
            is_papers=False,
        )
        for who, name in (("The typed carrier", TYPED), ("The free-form carrier", FREE_FORM))
    ),
    Claim(
        "Strict order scores better than relaxed order",
        f"strict order/{STATERAG}",
        (f"relaxed order, 4 at once/{STATERAG}",),
        {MACRO: POINTS},
        POINTS,
        is_papers=False,
    ),
    Claim(
        "Memory of earlier queries scores better than none",
        f"all queries before/{STATERAG}",
        (f"no query before/{STATERAG}",),
        {MACRO: POINTS},
        POINTS,
        is_papers=False,
    ),
    Claim(
        "Memory of earlier queries takes fewer RET than none",
        f"all queries before/{STATERAG}",
        (f"no query before/{STATERAG}",),
        {MACRO: ("ret",)},
        ("ret",),
        less=True,
        is_papers=False,
    ),
)
