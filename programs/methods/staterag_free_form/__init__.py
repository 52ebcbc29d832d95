"""StateRAG with one shared text in place of the typed state: the other side of the matched carrier control."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-free-form",
    label="StateRAG, free-form",
    program="programs.methods.staterag_free_form.program:StateRAGFreeForm",
    place=15,
    base=staterag.SPEC.name,
    carrier="Free-form shared",
)
