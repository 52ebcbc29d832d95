"""StateRAG with typed fields that nobody owns."""

from __future__ import annotations

import dspy

from programs.carriers.carrier import Carrier
from programs.carriers.unowned import UnownedCarrier
from programs.contract import Contract, FieldTypes
from programs.methods.staterag_typed.program import StateRAGTyped
from programs.methods.staterag_types_only.roles import HeardPredict, unowned
from programs.state import Role
from signatures.unowned import JudgeEvidenceUnowned, ProposePlanUnowned, ScoreTracesUnowned, SelectEvidenceUnowned


class StateRAGTypesOnly(StateRAGTyped):
    """A role must give its own field as ever, and may give any other. What is written last stands."""

    name = "staterag-types-only"

    def assemble(self) -> None:
        """Ask every role in a way that lets it name all fields."""
        super().assemble()
        self.planner.propose = HeardPredict(ProposePlanUnowned)
        self.navigator.score = HeardPredict(ScoreTracesUnowned)
        self.retriever.select = HeardPredict(SelectEvidenceUnowned)
        self.verifier.judge = HeardPredict(JudgeEvidenceUnowned)

    def _operators(self) -> dict[Role, dspy.Module]:
        return unowned(super()._operators())

    def _carrier(self, contract: Contract) -> Carrier:
        return UnownedCarrier(FieldTypes(contract.sources))
