"""StateRAG without SMP: the same graph and the same roles, with nothing to remember."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-without-smp",
    label="StateRAG w/o SMP",
    program="programs.methods.staterag_without_smp.program:StateRAGWithoutSMP",
    place=13,
    base=staterag.SPEC.name,
    removed="SMP",
)
