"""The record of one query: one JSON object, written the same way by `ask` and by an evaluation."""

from __future__ import annotations

from typing import Any

from metrics.record import RECORD_VERSION as RECORD_VERSION
from metrics.record import UNREADABLE
from metrics.record import Latency as Latency
from metrics.record import MemoryUse as MemoryUse
from metrics.record import QueryRecord as QueryRecord
from metrics.tokens import reader_equivalent, tokens_by_phase
from programs.models.ledger import Ledger
from programs.transcript import Transcript


def parse_failures(transcript: Transcript) -> int:
    """Count the completions that were no use: a role's are rejections, a baseline goes on without."""
    return transcript.unreadable + sum(rejection.reason in UNREADABLE for rejection in transcript.rejections)


def record_schema() -> dict[str, Any]:
    """Give the JSON Schema that ships as `programs/record.schema.json`."""
    schema = QueryRecord.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "StateRAG query record", **schema}


def make_record(
    *,
    query_id: str,
    workload: str,
    method: str,
    position: int,
    question: str,
    transcript: Transcript,
    ledger: Ledger,
    reader_parameters: int | None,
    latency: Latency,
    memory: MemoryUse,
    settings: str,
) -> QueryRecord:
    """Put a query's transcript and ledger into its record."""
    return QueryRecord(
        query_id=query_id,
        workload=workload,
        method=method,
        position=position,
        question=question,
        answer=transcript.answer,
        status=transcript.status,
        action=transcript.action,
        cycles=transcript.cycles,
        states=transcript.states,
        considered=transcript.considered,
        evidence=list(transcript.evidence),
        rejections=transcript.rejections,
        error=transcript.error,
        parse_failures=parse_failures(transcript),
        calls=ledger.calls,
        tokens=tokens_by_phase(ledger.calls),
        encoder_tokens=ledger.encoder_tokens,
        ret=reader_equivalent(ledger.calls, reader_parameters),
        latency=latency,
        memory=memory,
        refusals=transcript.refusals,
        settings=settings,
    )
