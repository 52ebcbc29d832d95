"""StateRAG without TAM: the same roles under the same contract, over regions that no typed graph arranges."""

from __future__ import annotations

from programs.methods.staterag import variant

SPEC = variant("staterag-without-tam", "StateRAG w/o TAM", "StateRAGWithoutTAM", place=11, removed="TAM")
