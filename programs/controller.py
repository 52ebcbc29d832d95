"""The lifecycle of one query: the paper's Algorithm 3, in its order and with its names.

The controller asks a role for a value, the carrier judges it and commits it, and the controller alone chooses what
happens next. Roles see a `View` and have no way to write; the reader is called in one place, at most once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import dspy

from programs.admission import Evidence, choose_action, initial_evidence, is_compact, merge, read_once, select_budget
from programs.carriers.carrier import Carrier
from programs.contract import Contract, Rejection
from programs.memory.memory import Memory
from programs.roles.view import ProposalFault, Tools, View
from programs.state import OPERATORS, OWNED_FIELD, Action, Role
from programs.transcript import Considered, Transcript


@dataclass(frozen=True)
class Controller:
    """Runs queries with these operators 𝒪1…𝒪4 and this reader G_φ."""

    operators: Mapping[Role, dspy.Module]
    reader: dspy.Module

    def run(
        self,
        query: str,
        tools: Tools,
        memory: Memory,
        contract: Contract,
        carrier: Carrier,
        transcript: Transcript,
    ) -> None:
        """Run one query. The transcript says how it ended; ⊥ leaves it incomplete and the reader uncalled."""
        budgets = tools.settings.lifecycle
        initial = initial_evidence(tools.graph, tools.query_vector(query), budgets.keep_first)  # E⁰
        if not self._resolve(memory, carrier, transcript, cycle=0):  # s⁰[U ← U⁰]
            return
        history: list[Evidence] = []
        view = View(query=query, state=carrier.state, revision="", cycle=1, earlier=(), tools=tools)

        if is_compact(initial, tools.graph.leaves, budgets.bypass_leaves, budgets.reader_budget, tools.encoder):
            transcript.actions.append(Action.BYPASS)
            admitted = select_budget(initial, budgets.reader_budget, tools.encoder)
            memory.persist(Action.BYPASS)
        else:
            for cycle in range(1, budgets.cycles + 1):  # t + 1
                carrier.open_cycle()  # z ← ⟨PENDING, ε⟩
                for role in OPERATORS:
                    view = replace(view, state=carrier.state, cycle=cycle)
                    if not self._propose(role, view, carrier, transcript):
                        memory.persist(None)
                        return  # ⊥
                transcript.cycles = cycle
                history.append(carrier.state.evidence)
                action = choose_action(carrier.state.verdict, cycle, budgets.cycles)
                transcript.actions.append(action)
                if action is Action.RELEASE:
                    admitted = select_budget(carrier.state.evidence, budgets.reader_budget, tools.encoder)
                elif action is Action.FALLBACK:
                    admitted = merge(history, budgets.reader_budget, tools.encoder)
                memory.persist(action)  # after evidence is selected, so it can't alter it
                if action is not Action.REVISE:
                    break
                view = replace(
                    view, revision=carrier.state.verdict.justification, earlier=carrier.state.evidence
                )  # c_q ← δ
                if not self._resolve(memory, carrier, transcript, cycle):  # U is refreshed
                    return

        read_once(query, admitted, contract.sources, self.reader, tools.reader, budgets, tools.ledger, transcript)

    def _propose(self, role: Role, view: View, carrier: Carrier, transcript: Transcript) -> bool:
        """Ask a role, and commit what it proposes. False is α = 0: the query returns ⊥."""
        try:
            proposal = self.operators[role](view)
        except ProposalFault as fault:
            rejection = Rejection(
                role=role,
                field=OWNED_FIELD[role],
                cycle=view.cycle,
                reason=fault.reason,
                detail=fault.detail,
                completion=fault.completion,
            )
            transcript.rejections.append(rejection)
            return False
        if ids := proposal.get("considered"):
            transcript.considered.append(Considered(cycle=view.cycle, role=role, evidence_ids=ids))
        return self._commit(role, proposal.value, view.cycle, carrier, transcript)

    def _resolve(self, memory: Memory, carrier: Carrier, transcript: Transcript, cycle: int) -> bool:
        """Let SMP supply U."""
        return self._commit(Role.SMP, memory.resolve(), cycle, carrier, transcript)

    def _commit(self, role: Role, value: object, cycle: int, carrier: Carrier, transcript: Transcript) -> bool:
        outcome = carrier.commit(role, value, cycle)
        if isinstance(outcome, Rejection):
            transcript.rejections.append(outcome)
            return False
        transcript.states.extend(outcome)
        return True
