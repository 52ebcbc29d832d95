"""The stages that evidence goes through on its way to the reader, read off a record, and what gold is there at each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from metrics.evidence import Located, Passages, admitted_sources, passage_recall, source_recall, title_recall
from metrics.record import Action, Address, QueryRecord, Reference, Role, StateField

Rule = Literal["half", "title"]
"""When evidence bears a passage: at least half of its characters are there, or its whole title line is."""

RECALLS: dict[Rule, Callable[[Located, Passages], float]] = {"half": passage_recall, "title": title_recall}
EVIDENCE_ID = re.compile(r"(.+)#(\d+)-(\d+)", re.DOTALL)
"""An id is the address of its characters; a source's own id may hold any sign."""


def gold(reference: Reference) -> int:
    """Count what a query needs: supporting passages, or sources where the reference names no passages."""
    return len(reference.passages or reference.supporting)


def borne(evidence: Located, reference: Reference, rule: Rule) -> tuple[bool, ...]:
    """Tell of each passage or source that a query needs whether the evidence bears it, by the rules of recall.

    A source that is needed whole is borne by any of its text, whatever the rule.
    """
    if reference.passages:
        return tuple(RECALLS[rule](evidence, [group]) == 1 for group in reference.passages)
    sources = admitted_sources(evidence)
    return tuple(source_recall(sources, [source]) == 1 for source in reference.supporting)


def stages_of(record: QueryRecord) -> dict[str, Located]:
    """Give the evidence at each stage that a record tells of, in order.

    A record without a state tells only what was admitted; one of before roles said what they considered begins at
    what was kept.
    """
    stages: dict[str, Located] = {}
    candidates = considered(record, Role.RETRIEVER)
    if record.considered:
        stages |= {"reached": [*considered(record, Role.NAVIGATOR), *candidates], "candidates": candidates}
    if committed := record.committed_evidence():
        every = [item for evidence in committed.values() for item in evidence]
        carried = every if record.action is Action.FALLBACK else committed[max(committed)]
        stages |= {"kept": every, "carried": carried}
    return stages | {"admitted": record.evidence}


def trace_ends(record: QueryRecord) -> Located:
    """Give the evidence that committed traces end at: the first that the Navigator considered, one for each end."""
    paths = record.committed(StateField.PATH)
    ends = {cycle: len({trace[-1] for trace in path}) for cycle, path in paths.items() if isinstance(path, list)}
    said = [each for each in record.considered if each.role is Role.NAVIGATOR]
    return addresses(name for each in said for name in each.evidence_ids[: ends.get(each.cycle, 0)])


def considered(record: QueryRecord, role: Role) -> Located:
    """Give the evidence that a role had before it in some cycle."""
    return addresses(name for each in record.considered if each.role is role for name in each.evidence_ids)


def addresses(evidence_ids: Iterable[str]) -> list[Address]:
    """Give evidence without its text, by ids alone."""
    return [address(evidence_id) for evidence_id in dict.fromkeys(evidence_ids)]


def address(evidence_id: str) -> Address:
    """Read the source and the characters that an id names."""
    match = EVIDENCE_ID.fullmatch(evidence_id)
    if match is None:
        raise ValueError(f"{evidence_id[:80]!r} is no evidence id, which would name its source, start and end")
    return Address(source_id=match[1], start=int(match[2]), end=int(match[3]))
