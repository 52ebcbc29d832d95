"""StateRAG that checks the type of a value and whose field it is for, and not whether it holds."""

from __future__ import annotations

from programs.carriers.carrier import Carrier
from programs.carriers.typed import TypedCarrier
from programs.contract import Contract, FieldTypes
from programs.methods.staterag_typed.program import StateRAGTyped


class StateRAGTypesOwnership(StateRAGTyped):
    """Caps, regions, paths, ids and provenance are not judged before a commit; the reader's door still is."""

    name = "staterag-types-ownership"

    def _carrier(self, contract: Contract) -> Carrier:
        return TypedCarrier(FieldTypes(contract.sources))
