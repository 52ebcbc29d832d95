"""Hostile proposals against the contract and the lifecycle: no bad commit, no exception, never a second reader call.

Every committed value is judged again by an oracle that shares no code with the contract's validators.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from programs.carriers.typed import TypedCarrier
from programs.controller import Controller
from programs.memory.pool import QueryMemory
from programs.models.ledger import Ledger
from programs.state import Action, EvidenceRecord, Role, StateField, Verdict, VerdictLabel
from programs.transcript import Transcript
from signatures.planner import Plan
from tests.campaign.figures import Figures, measured
from tests.campaign.hostile_values import Forger, value_kind
from tests.support import hostile
from tests.support.worlds import ROLE_ORDER, CountingReader, Heard, Says, World, make_world

FIELDS = {
    Role.PLANNER: StateField.PLAN,
    Role.NAVIGATOR: StateField.PATH,
    Role.RETRIEVER: StateField.EVIDENCE,
    Role.VERIFIER: StateField.VERDICT,
    Role.SMP: StateField.ARTIFACTS,
}
"""Whose field is whose, once more and by hand."""
QUESTION = "where is the lens?"
IN_A_QUERY = 60
"""Proposals to one contract before a new query begins."""
IN_LIFECYCLES = 0.1
"""The part of the proposals that roles make in whole lifecycles."""
SENTENCE = 600
TARGETS = 4


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Propose so many times."""
    draw = random.Random(seed)
    world = make_world()
    forger = Forger(draw, world)
    with measured("proposals", seed, "hostile proposals") as figures:
        while figures.count < count * (1 - IN_LIFECYCLES):
            propose_in_any_order(forger, world, figures)
        while figures.count < count:
            live_through(forger, world, figures)
    return figures


def propose_in_any_order(forger: Forger, world: World, figures: Figures) -> None:
    """One query's contract: any role, any value, at any cycle."""
    draw = forger.draw
    with world.query() as memory:
        contract = world.contract(memory)
        state = TypedCarrier(contract).state
        oracle = Oracle(world, memory, figures)
        for _ in range(IN_A_QUERY):
            if draw.random() < 0.05:
                state = contract.open_cycle(state)
            role, cycle = draw.choice(list(Role)), draw.choice((1, 1, 2, 2, 0, 3))
            value = forger.value(role, state, cycle)
            figures.count += 1
            try:
                outcome = contract.commit(state, role, value, cycle)
                if isinstance(outcome, type(state)):
                    oracle.judge(state, outcome, role, cycle)
                    state = outcome
                    figures.kinds[f"{FIELDS[role].value} committed"] += 1
                else:
                    json.loads(outcome.model_dump_json())
                    figures.expect(outcome.field == FIELDS[role], f"a rejection of {role} names {outcome.field}")
                    figures.kinds[f"{FIELDS[role].value} rejected"] += 1
            except Exception as error:  # noqa: BLE001 - whatever escapes the contract is what is looked for
                figures.find(f"{role.value} offering {value_kind(value)}: {type(error).__name__} escapes the contract")


def live_through(forger: Forger, world: World, figures: Figures) -> None:
    """One lifecycle of two cycles whose roles are hostile now and then."""
    heard, transcript = Heard(), Transcript()
    turns = {role: [forger.turn(role, cycle) for cycle in (1, 2)] for role in ROLE_ORDER}
    operators = {role: Says(values) for role, values in turns.items()}
    figures.count += sum(map(len, turns.values()))
    try:
        with world.query() as memory:
            contract = world.contract(memory)
            carrier = TypedCarrier(contract)
            tools = world.tools(memory, Ledger("q"))
            Controller(operators, CountingReader(heard)).run(QUESTION, tools, memory, contract, carrier, transcript)
    except Exception as error:  # noqa: BLE001 - whatever escapes the lifecycle is what is looked for
        figures.find(f"{type(error).__name__} escapes the lifecycle: {str(error)[:80]}")
        return
    last = transcript.actions[-1].value if transcript.actions else "⊥"
    figures.kinds[f"lifecycles ending in {last if transcript.status == 'completed' else '⊥'}"] += 1
    check_lifecycle(transcript, heard, world, figures)


def check_lifecycle(transcript: Transcript, heard: Heard, world: World, figures: Figures) -> None:
    figures.expect(len(heard.calls) <= 1, f"the reader was called {len(heard.calls)} times")
    figures.expect((transcript.status == "completed") == (len(heard.calls) == 1), "completed without the reader")
    figures.expect((transcript.status == "incomplete") == bool(transcript.rejections), "incomplete without a rejection")
    verdicts = [commit.value["label"] for commit in transcript.states if commit.field is StateField.VERDICT]
    due = [Action.RELEASE if v == "PASS" else (Action.REVISE, Action.FALLBACK)[i] for i, v in enumerate(verdicts)]
    figures.expect(transcript.actions == due, f"the verdicts {verdicts} led to {transcript.actions}")
    sources = world.collection.texts
    for record in transcript.evidence:
        figures.expect(
            sources[record.source_id][record.start : record.end] == record.text,
            "the reader was given what no source has",
        )
    figures.expect(
        all(evidence == transcript.evidence for _, evidence in heard.calls),
        "the reader saw other evidence than is recorded",
    )


class Oracle:
    """Judges what was committed, from the types up."""

    def __init__(self, world: World, memory: QueryMemory, figures: Figures) -> None:
        self._world = world
        self._memory = memory
        self._figures = figures
        self._kept: dict[str, EvidenceRecord] = {}

    def judge(self, before: Any, after: Any, role: Role, cycle: int) -> None:
        """See that one field changed, that it is the role's, and that its value is a good one."""
        own = FIELDS[role]
        others = [
            field for field in StateField if field is not own and getattr(after, field) is not getattr(before, field)
        ]
        self._figures.expect(not others, f"{role.value} changed {others}")
        value = getattr(after, own)
        good: Callable[[Any, Any, int], bool] = getattr(self, f"_good_{own.value}")
        self._figures.expect(good(value, before, cycle), lambda: f"bad commit to {own.value}: {value!r:.200}")

    def _good_plan(self, plan: Any, before: Any, cycle: int) -> bool:
        return (
            type(plan) is Plan
            and set(vars(plan)) == {"objective", "targets"}
            and sound(plan.objective)
            and type(plan.targets) is tuple
            and 1 <= len(plan.targets) <= TARGETS
            and all(sound(target) for target in plan.targets)
        )

    def _good_path(self, path: Any, before: Any, cycle: int) -> bool:
        return (
            type(path) is tuple
            and all(type(trace) is tuple and all(type(node) is int for node in trace) for trace in path)
            and hostile.good_path(self._world.graph, path)
            and len(set(path)) == len(path) <= 4
        )

    def _good_evidence(self, evidence: Any, before: Any, cycle: int) -> bool:
        cap = 5 if cycle <= 1 else 7
        if type(evidence) is not tuple or not 0 < len(evidence) <= cap:
            return False
        if not all(exact_record(record) for record in evidence):
            return False
        ids = [record.evidence_id for record in evidence]
        fresh = tuple(record for record in evidence if self._kept.get(record.evidence_id) != record)
        sources = self._world.collection.texts
        good = len(set(ids)) == len(ids) and all(record.cycle == cycle for record in fresh)
        if fresh:
            good = good and hostile.good_evidence(self._world.graph, sources, before.path, fresh, cap)
            good = good and all(r.evidence_id == f"{r.source_id}#{r.start}-{r.end}" for r in fresh)
        for record in evidence:
            self._kept.setdefault(record.evidence_id, record)
        return good

    def _good_verdict(self, verdict: Any, before: Any, cycle: int) -> bool:
        return (
            type(verdict) is Verdict
            and set(vars(verdict)) == {"label", "justification"}
            and type(verdict.label) is VerdictLabel
            and verdict.label is not VerdictLabel.PENDING
            and type(verdict.justification) is str
            and writable(verdict.justification)
            and (verdict.label is VerdictLabel.PASS or bool(verdict.justification.strip()))
        )

    def _good_artifacts(self, artifacts: Any, before: Any, cycle: int) -> bool:
        return type(artifacts) is tuple and all(
            type(item) is str and self._memory.payload(item) is not None for item in artifacts
        )


def exact_record(record: Any) -> bool:
    return (
        type(record) is EvidenceRecord
        and set(vars(record)) == set(EvidenceRecord.model_fields)
        and all(type(getattr(record, name)) is str for name in ("evidence_id", "source_id", "text"))
        and all(type(getattr(record, name)) is int for name in ("start", "end", "cycle"))
        and record.derived is None
        and writable(record.text)
    )


def sound(sentence: Any) -> bool:
    """Whether a text is one that says something and can be written."""
    return (
        type(sentence) is str
        and sentence == sentence.strip() != ""
        and len(sentence) <= SENTENCE
        and writable(sentence)
    )


def writable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
