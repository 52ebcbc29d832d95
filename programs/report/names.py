"""What methods and workloads are called in print, and in which order they stand; other names stand as they are."""

from __future__ import annotations

from collections.abc import Iterable

from programs.methods.registry import specs

STATERAG = "staterag"
FLAT_FUSION = "flat-fusion"
"""The control that is StateRAG's ranking alone, which stands beside its ablations."""
TYPED, FREE_FORM = "staterag-typed", "staterag-free-form"
VARIANTS = [one.name for one in specs().values() if one.base == STATERAG]
REMOVALS = {one.name: f"w/o {one.removed}" for one in specs().values() if one.base == STATERAG and one.removed}
CARRIERS = {one.name: one.carrier for one in specs().values() if one.base == STATERAG and one.carrier}
ELEMENTS = {
    one.name: " + ".join(one.contract).capitalize()
    for one in sorted(specs().values(), key=lambda one: len(one.contract))
    if one.base == STATERAG and one.contract
}
"""What is left of the contract, from the least to all of it."""
METHODS = {one.name: one.label for one in sorted(specs().values(), key=lambda one: (one.printed, one.name))}
"""In the paper's order; methods that packages bring stand after those of the paper."""

LONGBENCH = {"longbench/hotpotqa": "HotpotQA", "longbench/2wikimqa": "2WikiMQA", "longbench/musique": "MuSiQue"}
"""The tasks whose unweighted mean is LongBench's macro average, in the paper's order."""
MACRO = "longbench"
QASPER, DOCVQA = "qasper", "docvqa"
WORKLOADS = LONGBENCH | {MACRO: "LongBench macro", QASPER: "QASPER", DOCVQA: "DocVQA"}


def base(name: str) -> str:
    """Give the method of a system. Where several runs have a method, each of its systems is called run/method."""
    return name.rpartition("/")[2]


def method_label(name: str) -> str:
    """Call a system by its method's printed name, with its run where there are several."""
    run, _, method = name.rpartition("/")
    label = METHODS.get(method, method)
    return f"{label} ({run})" if run else label


def workload_label(name: str) -> str:
    """Call a workload by its printed name."""
    return WORKLOADS.get(name, name)


def is_staterag(name: str) -> bool:
    """Tell whether a system is StateRAG as it is, which is emphasised."""
    return base(name) == STATERAG


def is_variant(name: str) -> bool:
    """Tell whether a system is StateRAG with something changed, which has tables of its own."""
    return base(name) in VARIANTS


def in_order(systems: Iterable[str]) -> list[str]:
    """Sort systems as the paper does: baselines, then names of one's own, StateRAG's variants, and StateRAG."""
    known = list(METHODS)

    def place(name: str) -> tuple[int, int]:
        method = base(name)
        if is_staterag(name):
            return 3, 0
        if is_variant(name):
            return 2, VARIANTS.index(method)
        return (0, known.index(method)) if method in known else (1, 0)

    return sorted(dict.fromkeys(systems), key=place)
