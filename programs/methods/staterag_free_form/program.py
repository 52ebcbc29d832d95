"""StateRAG with a free-form shared trajectory."""

from __future__ import annotations

from programs.carriers.carrier import Carrier
from programs.carriers.freeform import FreeFormCarrier
from programs.contract import Contract
from programs.methods.staterag_free_form.roles import (
    FreeFormNavigator,
    FreeFormPlanner,
    FreeFormRetriever,
    FreeFormVerifier,
)
from programs.methods.staterag_typed.program import StateRAGTyped


class StateRAGFreeForm(StateRAGTyped):
    """The order of roles, TAM, SMP, the actions, the budgets and the reader are those of the typed carrier."""

    name = "staterag-free-form"

    def assemble(self) -> None:
        """Have every role answer in words."""
        super().assemble()
        self.planner = FreeFormPlanner()
        self.navigator = FreeFormNavigator()
        self.retriever = FreeFormRetriever()
        self.verifier = FreeFormVerifier()

    def _carrier(self, contract: Contract) -> Carrier:
        return FreeFormCarrier()
