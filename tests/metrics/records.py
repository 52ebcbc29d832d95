"""Small records and references."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

from metrics.record import Call, EvidenceRecord, GoldPassage, QueryRecord, ReaderEquivalentTokens, Reference
from metrics.tokens import tokens_by_phase
from programs.state import plain

Model = TypeVar("Model", bound=BaseModel)


def changed(model: Model, **changes: Any) -> Model:
    """Make the same with other values."""
    return type(model).model_validate(dict(model) | changes)


def a_call(phase: str = "aux", **changes: Any) -> Call:
    call = {
        "query_id": "q1",
        "role": "reader" if phase == "reader" else "planner",
        "phase": phase,
        "model": "large" if phase == "reader" else "small",
        "parameters": 14 if phase == "reader" else 7,
        "prompt_tokens": 90,
        "completion_tokens": 10,
        "seconds": 0.5,
        "finish_reason": "stop",
        "truncated": False,
        "prompt_hash": "0123456789abcdef",
        "transport_retries": 0,
        "error": None,
    }
    return Call.model_validate(call | changes)


def an_evidence(
    source_id: str = "birds", start: int = 0, text: str = "The Brass Heron", **changes: Any
) -> EvidenceRecord:
    end = changes.pop("end", start + len(text))
    item = {
        "evidence_id": f"{source_id}#{start}-{end}",
        "source_id": source_id,
        "start": start,
        "end": end,
        "text": text,
        "cycle": 1,
        "derived": None,
    }
    return EvidenceRecord.model_validate(item | changes)


def a_derived(text: str, *regions: tuple[str, int, int]) -> EvidenceRecord:
    named = [{"source_id": source, "start": start, "end": end} for source, start, end in regions]
    derived = {"kind": "summary", "regions": named}
    return an_evidence(**named[0] | {"text": text, "evidence_id": f"summary of {regions}", "derived": derived})


def a_summary(text: str, source_id: str = "birds", start: int = 0, end: int = 100) -> EvidenceRecord:
    return a_derived(text, (source_id, start, end))


def a_commit(field: str, value: Any, cycle: int = 1) -> dict[str, Any]:
    roles = {"plan": "planner", "path": "navigator", "evidence": "retriever", "verdict": "verifier", "artifacts": "smp"}
    return {"cycle": cycle, "role": roles[field], "field": field, "value": plain(value)}


def a_verdict(label: str, cycle: int = 1) -> dict[str, Any]:
    return a_commit("verdict", {"label": label, "justification": "because"}, cycle)


def a_rejection(reason: str) -> dict[str, Any]:
    return {
        "role": "planner",
        "field": "plan",
        "cycle": 1,
        "reason": reason,
        "detail": "…",
        "value": None,
        "completion": None,
    }


def a_record(**changes: Any) -> QueryRecord:
    """Make a query that was released after one cycle and read once."""
    evidence = changes.pop("evidence", [an_evidence()])
    calls = changes.pop("calls", [a_call("index"), a_call(), a_call(), a_call("reader")])
    record = {
        "version": 1,
        "query_id": "q1",
        "workload": "aviary",
        "method": "staterag",
        "position": 0,
        "question": "Which bird?",
        "answer": "the Brass Heron",
        "status": "completed",
        "action": "RELEASE",
        "cycles": 1,
        "states": [a_commit("artifacts", [], 0), a_commit("evidence", evidence), a_verdict("PASS")],
        "considered": [],
        "evidence": evidence,
        "rejections": [],
        "error": None,
        "parse_failures": 0,
        "calls": calls,
        "tokens": tokens_by_phase(calls),
        "encoder_tokens": 50,
        "ret": ReaderEquivalentTokens.of(calls, "large", 14),
        "latency": {"index": 0.25, "online": 1.5},
        "memory": {"reads": 4, "hits": 1},
        "refusals": [],
        "settings": "0123",
        "manifest": None,
    }
    return QueryRecord.model_validate(record | changes)


def a_baseline_record(**changes: Any) -> QueryRecord:
    """Make a query of a method without a controller: no state, no action, no cycle."""
    return a_record(**{"method": "vanilla", "action": None, "cycles": 0, "states": []} | changes)


def an_incomplete_record(**changes: Any) -> QueryRecord:
    """Make a query that ended at a rejection: the reader was not called."""
    ended = {
        "status": "incomplete",
        "action": None,
        "cycles": 0,
        "answer": "",
        "evidence": [],
        "states": [a_commit("artifacts", [], 0)],
        "rejections": [a_rejection("malformed")],
        "parse_failures": 1,
        "calls": [a_call("index"), a_call()],
    }
    return a_record(**ended | changes)


def a_passage(title: str = "Heron", start: int = 0, end: int = 20, source_id: str = "birds") -> GoldPassage:
    return GoldPassage(source_id=source_id, title=title, start=start, end=end)


def a_reference(**changes: Any) -> Reference:
    reference = {
        "query_id": "q1",
        "answers": ["Brass Heron", "heron"],
        "supporting": ["birds", "rivers"],
        "passages": [[a_passage("The Brass Heron", 0, 20)], [a_passage("The Ferry", 40, 60)]],
        "question_type": "bridge",
        "cluster": None,
    }
    return Reference.model_validate(reference | changes)
