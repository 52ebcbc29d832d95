"""Reader admission: what evidence a terminal action hands to the reader, within the budget B.

B counts encoder tokens, so that it means the same for every method and reader. A record that does not fit whole is
cut to a prefix; it keeps its id, its start and its source, and its end moves to where its text now ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import dspy
import numpy as np
import numpy.typing as npt

from programs.contract import check_provenance
from programs.models.encoders.encoder import Encoder
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger
from programs.settings import LifecycleSettings
from programs.state import Action, EvidenceRecord, Verdict, VerdictLabel
from programs.tam.graph import TypedGraph
from programs.transcript import Transcript

Evidence = tuple[EvidenceRecord, ...]


def initial_evidence(graph: TypedGraph, query_vector: npt.NDArray[np.float32], keep: int) -> Evidence:
    """Give E⁰: the Evidence leaves most similar to the query, best first, ties by node order."""
    nodes = graph.evidence_nodes
    similarity = graph.vectors[nodes.start : nodes.stop] @ query_vector
    order = np.argsort(-similarity, kind="stable")[:keep]
    return tuple(graph.record(nodes[i], 0) for i in order)


def is_compact(initial: Evidence, leaves: int, most_leaves: int, budget: int, encoder: Encoder) -> bool:
    """Decide C_bp: evidence to show, few leaves, and all of it fits. Evaluated once, before any role is asked."""
    if not initial or leaves > most_leaves:
        return False
    return sum(len(encoder.spans(record.text)) for record in initial) <= budget


def choose_action(verdict: Verdict, cycle: int, most_cycles: int) -> Action:
    """Combine the committed verdict with the remaining cycles, and nothing else."""
    if verdict.label is VerdictLabel.PASS:
        return Action.RELEASE
    return Action.REVISE if cycle < most_cycles else Action.FALLBACK


def select_budget(records: Iterable[EvidenceRecord], budget: int, encoder: Encoder) -> Evidence:
    """Take records in order, each id once, until the budget is reached; the one that crosses it is cut to fit."""
    unique: dict[str, EvidenceRecord] = {}
    for record in records:
        unique.setdefault(record.evidence_id, record)
    admitted: list[EvidenceRecord] = []
    left = budget
    for record in unique.values():
        if left <= 0:
            break
        spans = encoder.spans(record.text)
        if len(spans) > left:
            record = cut(record, spans[left - 1][1])
        admitted.append(record)
        left -= len(spans)
    return tuple(admitted)


def cut(record: EvidenceRecord, length: int) -> EvidenceRecord:
    """Shorten a record to its first characters. A derived text still was made from the same regions."""
    end = record.end if record.derived else record.start + length
    return record.model_copy(update={"text": record.text[:length], "end": end})


def read_once(
    question: str,
    admitted: Evidence,
    sources: Mapping[str, str],
    reader: dspy.Module,
    model: LanguageModel,
    settings: LifecycleSettings,
    ledger: Ledger,
    transcript: Transcript,
) -> None:
    """Check every address once more, and have the reader answer: the one place where it is called."""
    for record in admitted:
        check_provenance(record, sources)
    transcript.evidence = admitted
    said = reader(question=question, evidence=admitted, lm=model, ledger=ledger, max_tokens=settings.reader_tokens)
    transcript.answer, transcript.cited = said.answer, said.get("cited", ())
    transcript.status = "completed"


def merge(history: Sequence[Evidence], budget: int, encoder: Encoder) -> Evidence:
    """Merge_B: cycles in order, the Retriever's ranking within each, each id once, up to the budget."""
    return select_budget(chain.from_iterable(history), budget, encoder)
