"""The loss funnel: how far the gold of each query got on its way to the reader, and at which step it was lost.

Each passage or source that a query needs counts once, at the furthest of `STAGES` where it was there. So counts only
fall from stage to stage, every loss has one cause, and the last count is the recall that `metrics.evidence` gives.

An incomplete query admits nothing, whatever its roles had found, so its gold is lost at the first step; else a
completion that could not be read would be blamed on the search. Ending a committed trace is no stage, since the
Retriever's candidates come from the whole region of a trace: what the Navigator scored, and where its traces end, is
told beside the stages. Regions tile their source, so cutting it into them loses nothing by itself. BYPASS asks no
role: what it admits passed every stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from metrics.answers import answer_scores
from metrics.evidence import Located
from metrics.record import QueryRecord, Reference, Role, StateField
from metrics.stages import Rule, borne, considered, gold, stages_of, trace_ends
from metrics.sufficiency import Agreement, AnswerMeans, JudgedVerdict

STAGES = ("gold", "completed", "reached", "candidates", "kept", "carried", "admitted")
"""reached: scored by the Navigator, or a candidate of the Retriever's. kept: committed in some cycle. carried: still
there in the last cycle, or merged by FALLBACK. admitted: within the reader's budget."""

ALWAYS = ("gold", "completed", "admitted")
"""The stages that every method has."""


@dataclass(frozen=True)
class Fate:
    """What became of the gold of one query, and what was made of it."""

    furthest: tuple[str, ...]
    """The last stage where each passage or source was there."""
    scored: int
    on_path: int
    ended_by: str | None
    """What left the query incomplete: the role whose proposal was rejected, or "fault"."""
    verdicts: tuple[JudgedVerdict, ...]
    scores: dict[str, float]
    """Of its answer; none where the reference has none."""
    told: frozenset[str]
    """The stages that the record tells of."""

    @property
    def is_sufficient(self) -> bool:
        """Tell whether all of the gold was admitted."""
        return all(stage == "admitted" for stage in self.furthest)


def fate(record: QueryRecord, reference: Reference, rule: Rule = "half") -> Fate:
    """Follow a query's gold through its record."""
    complete = record.is_complete
    stages = stages_of(record)
    answers = reference.answers
    return Fate(
        furthest=_furthest(stages, reference, rule) if complete else ("gold",) * gold(reference),
        scored=sum(borne(considered(record, Role.NAVIGATOR), reference, rule)) if complete else 0,
        on_path=sum(borne(trace_ends(record), reference, rule)) if complete else 0,
        ended_by=None if complete else _ended_by(record),
        verdicts=verdicts(record, reference, rule),
        scores=answer_scores(record.answer if complete else "", answers) if answers else {},
        told=frozenset(stages),
    )


def verdicts(record: QueryRecord, reference: Reference, rule: Rule = "half") -> tuple[JudgedVerdict, ...]:
    """Hold each committed verdict against the evidence that its cycle committed. Carried gold is there too.

    A verdict in free-form words has no typed evidence beside it to be held against.
    """
    evidence = record.committed_evidence()
    return tuple(
        JudgedVerdict(cycle, value["label"], all(borne(evidence.get(cycle, ()), reference, rule)))
        for cycle, value in record.committed(StateField.VERDICT).items()
        if isinstance(value, Mapping)
    )


def _furthest(stages: Mapping[str, Located], reference: Reference, rule: Rule) -> tuple[str, ...]:
    last = ["completed"] * gold(reference)
    for stage, evidence in stages.items():
        found = borne(evidence, reference, rule)
        last = [stage if there else before for there, before in zip(found, last, strict=True)]
    return tuple(last)


def _ended_by(record: QueryRecord) -> str:
    return record.rejections[-1].role.value if record.rejections else "fault"


@dataclass
class Tally:
    """The counts of some queries."""

    queries: int = 0
    furthest: Counter[str] = field(default_factory=Counter)
    scored: int = 0
    on_path: int = 0
    ended_by: Counter[str] = field(default_factory=Counter)
    """Gold of incomplete queries, by what ended them."""
    verdicts: Agreement = field(default_factory=Agreement)
    answers: dict[bool, AnswerMeans] = field(default_factory=lambda: {True: AnswerMeans(), False: AnswerMeans()})
    """By whether all of the gold was admitted."""

    def add(self, found: Fate) -> None:
        """Count a query."""
        self.queries += 1
        self.furthest.update(found.furthest)
        self.scored += found.scored
        self.on_path += found.on_path
        if found.ended_by is not None:
            self.ended_by[found.ended_by] += len(found.furthest)
        self.verdicts.counts.update(found.verdicts)
        if found.scores:
            self.answers[found.is_sufficient].add(found.scores)

    def survivors(self, stage: str) -> int:
        """Count the gold that got to a stage, or beyond it."""
        return sum(self.furthest[later] for later in STAGES[STAGES.index(stage) :])


class Funnel:
    """The funnel of one method on one workload. A record is counted and forgotten, so a run may have any length."""

    def __init__(self, method: str, workload: str, rule: Rule = "half") -> None:
        self.method = method
        self.workload = workload
        self.rule: Rule = rule
        self.whole = Tally()
        self.types: dict[str | None, Tally] = {}
        self.unjudged = 0
        """Queries whose reference names no gold: they have nothing to lose, and are in no count."""
        self._told = set(ALWAYS)
        self._queries: set[str] = set()

    def __len__(self) -> int:
        return len(self._queries)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that the records tell of, in order."""
        return tuple(stage for stage in STAGES if stage in self._told)

    def add(self, record: QueryRecord, reference: Reference) -> None:
        """Follow a query's gold and count it."""
        query_id = record.query_id
        if query_id in self._queries:
            raise ValueError(f"query {query_id!r} comes twice; a funnel counts each query once")
        self._queries.add(query_id)
        if not gold(reference):
            self.unjudged += 1
            return
        self.count(fate(record, reference, self.rule), reference.question_type)

    def count(self, found: Fate, question_type: str | None) -> None:
        """Count what became of a query's gold."""
        self._told |= found.told
        self.whole.add(found)
        self.types.setdefault(question_type, Tally()).add(found)
