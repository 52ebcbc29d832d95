"""The methods by name. Each is imported when it is asked for, since some bring heavy libraries."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from programs.errors import InputError
from programs.methods.indexes import Indexes
from programs.methods.program import Program
from programs.models.runtime import Runtime

METHODS = {
    "staterag": "programs.methods.staterag:StateRAG",
    "vanilla": "programs.methods.vanilla:Vanilla",
    "vanilla-rerank": "programs.methods.vanilla:VanillaRerank",
    "dosrag": "programs.methods.dosrag:DOSRAG",
    "react": "programs.methods.react:ReAct",
    "selfrag": "programs.methods.selfrag:SelfRAG",
    "raptor": "programs.methods.raptor.raptor:Raptor",
    "graphrag": "programs.methods.graphrag.graphrag:GraphRAG",
    "memorag": "programs.methods.memorag:MemoRAG",
    "hipporag2": "programs.methods.hipporag2.hipporag2:HippoRAG2",
}

NEEDS = {"raptor": "umap"}
"""Libraries that are not installed unless asked for."""


def method_class(name: str) -> type[Program]:
    """Find a method's class."""
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; use one or several of {', '.join(METHODS)}")
    needed = NEEDS.get(name)
    if needed is not None and find_spec(needed) is None:
        raise InputError(f"{name} needs {needed}: pip install 'staterag[baselines]'")
    module, _, attribute = METHODS[name].partition(":")
    found: type[Program] = getattr(import_module(module), attribute)
    return found


def open_method(
    name: str, runtime: Runtime, workload: str, indexes: Indexes | None = None, memory: Path | None = None
) -> Program:
    """Make a method's program. One that keeps memory between queries keeps it in the file `memory`."""
    kind = method_class(name)
    return kind.open(runtime, workload, indexes, memory)
