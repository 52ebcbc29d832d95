"""What to tell each role about a query that it took part in: which proposals were rejected, and where gold was lost.

A proposer of instructions reads this about training questions, and nobody else does: it goes into no memory and into
no prompt of a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from metrics.evidence import Located
from metrics.funnel import verdicts
from metrics.record import QueryRecord, Reference, Role
from metrics.stages import borne, considered, stages_of

QUOTED = 300
"""Characters of a completion or an answer that are quoted."""


def feedback(predictor: str, record: QueryRecord, reference: Reference, told: str) -> str:
    """Say to one predictor of a program what came of its work. `told` is how the query was scored."""
    role = predictor.partition(".")[0]
    lines = [*_rejections(role, record), *ROLES.get(role, _of_any)(record, reference), _ending(record), told]
    return "\n".join(line for line in lines if line)


def _rejections(role: str, record: QueryRecord) -> Iterator[str]:
    for found in record.rejections:
        if found.role == role:
            yield f"Cycle {found.cycle}: your proposal was rejected ({found.reason}): {found.detail}"
            if found.completion:
                yield f"What you had written: {_cut(found.completion)}"


def _of_planner(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Name the supporting titles that no target led to."""
    reached = [*considered(record, Role.NAVIGATOR), *considered(record, Role.RETRIEVER)]
    yield _named("No target of yours led to", _missing(reached, reference))
    yield _named("Your targets led to", _there(reached, reference))


def _of_navigator(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Name what was scored and left, and what was never scored."""
    scored, candidates = considered(record, Role.NAVIGATOR), considered(record, Role.RETRIEVER)
    yield _named("Needed, and never among the traces that you scored", _missing(scored, reference))
    left = [name for name in _there(scored, reference) if name in _missing(candidates, reference)]
    yield _named("Needed, scored by you, and left behind for other traces", left)
    yield _named("Needed, and found by your traces", _there(candidates, reference))


def _of_retriever(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Name what was among the candidates and not selected."""
    candidates = considered(record, Role.RETRIEVER)
    kept = stages_of(record).get("kept", ())
    dropped = [name for name in _there(candidates, reference) if name in _missing(kept, reference)]
    yield _named("Needed, among your candidates, and not selected", dropped)
    yield _named("Needed, and selected by you", _there(kept, reference))
    yield _named("Needed, but never among your candidates", _missing(candidates, reference))


def _of_verifier(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Hold each verdict against what the evidence lacked."""
    evidence = record.committed_evidence()
    for verdict in verdicts(record, reference):
        lacking = _missing(evidence.get(verdict.cycle, ()), reference)
        if verdict.is_right:
            yield f"Cycle {verdict.cycle}: {verdict.label} was right."
        elif lacking:
            yield _named(f"Cycle {verdict.cycle}: {verdict.label} was wrong, for the evidence lacks", lacking)
        else:
            yield f"Cycle {verdict.cycle}: {verdict.label} was wrong, for all that is needed was there."


def _of_reader(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Set its answer beside the references."""
    if reference.answers:
        yield f"A right answer: {' / '.join(map(_cut, reference.answers))}"
        yield f"Your answer: {_cut(record.answer) or '(none)'}"
    yield _named("The evidence lacked", _missing(record.evidence, reference))


def _of_any(record: QueryRecord, reference: Reference) -> Iterator[str]:
    """Say what evidence the query ended with, to a part of a method that has no state to look into."""
    yield _named("Needed, and in the evidence at the end", _there(record.evidence, reference))
    yield _named("Needed, and missing from the evidence at the end", _missing(record.evidence, reference))
    if record.parse_failures:
        yield f"{record.parse_failures} completions of this query could not be read as what was asked for."


ROLES: Mapping[str, Callable[[QueryRecord, Reference], Iterator[str]]] = {
    "planner": _of_planner,
    "navigator": _of_navigator,
    "retriever": _of_retriever,
    "verifier": _of_verifier,
    "reader": _of_reader,
    "abstraction": _of_any,
}


def _ending(record: QueryRecord) -> str:
    """Say what left a query without an answer."""
    if record.is_complete:
        return ""
    if record.rejections:
        last = record.rejections[-1]
        return f"The query ended at the {last.role}: {last.reason}."
    return f"The query ended without an answer: {_cut(record.error or 'nothing was found')}"


def _there(evidence: Located, reference: Reference) -> list[str]:
    return [name for name, found in zip(_gold(reference), borne(evidence, reference, "half"), strict=True) if found]


def _missing(evidence: Located, reference: Reference) -> list[str]:
    return [name for name, found in zip(_gold(reference), borne(evidence, reference, "half"), strict=True) if not found]


def _gold(reference: Reference) -> list[str]:
    """Name what a query needs: titles, or sources where the reference has no passages."""
    groups = reference.passages
    named = [group[0].title if group else "a title that no source has" for group in groups]
    return named if groups else list(reference.supporting)


def _named(what: str, names: list[str]) -> str:
    return f"{what}: {'; '.join(dict.fromkeys(names))}." if names else ""


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED else f"{flat[:QUOTED]} …"
