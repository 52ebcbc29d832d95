"""StateRAG without TAM: the same roles under the same contract, over regions that no typed graph arranges."""

from __future__ import annotations

from dataclasses import replace

from programs.methods import staterag

SPEC = replace(
    staterag.SPEC,
    name="staterag-without-tam",
    label="StateRAG w/o TAM",
    program="programs.methods.staterag_without_tam.program:StateRAGWithoutTAM",
    place=11,
    base=staterag.SPEC.name,
    removed="TAM",
)
