"""StateRAG without MARS: plan, navigate and retrieve once, and read what was proposed."""

from __future__ import annotations

from dataclasses import replace

import dspy

from metrics.record import UNREADABLE
from programs.admission import merge, read_once
from programs.memory.memory import Memory
from programs.methods.base import NO_EVIDENCE, QueryRun
from programs.methods.staterag.program import StateRAG
from programs.roles.view import ProposalFault, Tools, View
from programs.state import OWNED_FIELD, Action, Proposed, Role
from programs.transcript import Considered


class StateRAGWithoutMARS(StateRAG):
    """One pass without a contract. A role that has nothing to propose still ends the query, and is asked once."""

    name = "staterag-without-mars"

    def assemble(self) -> None:
        """Do without a Verifier."""
        super().assemble()
        del self.verifier

    def _operators(self) -> dict[Role, dspy.Module]:
        return {Role.PLANNER: self.planner, Role.NAVIGATOR: self.navigator, Role.RETRIEVER: self.retriever}

    def _control(self, run: QueryRun, tools: Tools, memory: Memory) -> None:
        """Ask each role in turn, and read the evidence within the first cycle's budgets."""
        query, lifecycle = run.query, self.settings.lifecycle
        try:
            view = self._proposed(query.question, run, tools, memory)
        except ProposalFault as fault:
            run.transcript.unreadable += fault.reason in UNREADABLE
            run.transcript.error = f"{fault.reason}: {fault.detail}"
            memory.persist(None)
            return
        admitted = merge([view.state.evidence[: view.cap]], lifecycle.reader_budget, tools.encoder)
        memory.persist(Action.RELEASE)  # the pass is over: what it offered is kept as after a terminal action
        if not admitted:
            run.transcript.error = NO_EVIDENCE
            return
        texts = query.collection.texts
        read_once(query.question, admitted, texts, self.reader, tools.reader, lifecycle, run.ledger, run.transcript)

    def _proposed(self, question: str, run: QueryRun, tools: Tools, memory: Memory) -> View:
        """Let each role read what those before it proposed, and give what the last of them would have read."""
        proposed = Proposed(artifacts=memory.resolve())
        view = View(query=question, state=proposed, revision="", cycle=1, earlier=(), tools=tools)
        for role, operator in self._operators().items():
            proposal = operator(view)
            if ids := proposal.get("considered"):
                run.transcript.considered.append(Considered(cycle=view.cycle, role=role, evidence_ids=ids))
            proposed = replace(proposed, **{OWNED_FIELD[role].value: proposal.value})
            view = replace(view, state=proposed)
        return view
