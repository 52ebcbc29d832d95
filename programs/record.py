"""The record of one query: one JSON object, written the same way by `ask` and by an evaluation."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from metrics.tokens import KAPPA
from programs.contract import Reason, Rejection
from programs.models.ledger import Call, Ledger, Phase
from programs.state import Action, EvidenceRecord
from programs.trail import Commit, Considered, Trail

RECORD_VERSION: Literal[1] = 1
UNREADABLE = (Reason.MALFORMED, Reason.TRUNCATED)


class Tokens(BaseModel):
    """LLM tokens by phase."""

    reader: int
    aux: int
    index: int


class ReaderEquivalentTokens(BaseModel):
    """RET with the paper's weight, and with the parameter ratios of the models that ran where they are known."""

    paper: float
    parameters: float | None


class Latency(BaseModel):
    """Seconds: building what the query needed, and answering it.

    What a cache of vectors spared is told apart, so that methods can be compared as if each had run on its own.
    """

    index: float
    online: float
    spared_index: float = 0.0
    spared_online: float = 0.0


class MemoryUse(BaseModel):
    """Permitted reads of global memory, and those that returned something."""

    reads: int
    hits: int


class QueryRecord(BaseModel):
    """Everything that can be asked of a query afterwards."""

    model_config = ConfigDict(extra="forbid")
    version: Literal[1] = RECORD_VERSION
    query_id: str
    workload: str
    method: str
    position: int
    question: str
    answer: str
    status: Literal["completed", "incomplete"]
    action: Action | None
    cycles: int
    states: list[Commit]
    considered: list[Considered] = Field(
        default_factory=list, description="what roles had before them; none where a method or an older run says none"
    )
    evidence: list[EvidenceRecord]
    rejections: list[Rejection]
    error: str | None = Field(None, description="the fault that ended an incomplete query, where it was no rejection")
    parse_failures: int = Field(0, description="completions that could not be read as what was asked for")
    calls: list[Call]
    tokens: Tokens
    encoder_tokens: int
    ret: ReaderEquivalentTokens
    latency: Latency
    memory: MemoryUse
    settings: str = Field(description="digest of the settings that it ran with")
    manifest: str | None = Field(None, description="digest of the manifest of the run that it belongs to")


def tokens_of(ledger: Ledger) -> Tokens:
    """Sum a ledger's tokens by phase."""
    return Tokens(reader=ledger.tokens(Phase.READER), aux=ledger.tokens(Phase.AUX), index=ledger.tokens(Phase.INDEX))


def reader_equivalent(calls: list[Call], reader_parameters: int | None) -> ReaderEquivalentTokens:
    """Weigh tokens by model size: κ = 8/14 for every call that is not the reader's, or the true ratio of each."""
    paper = sum(call.tokens * (1.0 if call.phase is Phase.READER else KAPPA) for call in calls)
    if reader_parameters is None or any(call.parameters is None for call in calls):
        return ReaderEquivalentTokens(paper=paper, parameters=None)
    exact = sum(call.tokens * (call.parameters or 0) / reader_parameters for call in calls)
    return ReaderEquivalentTokens(paper=paper, parameters=exact)


def parse_failures(trail: Trail) -> int:
    """Count the completions that were no use: a role's are rejections, a baseline goes on without."""
    return trail.unreadable + sum(rejection.reason in UNREADABLE for rejection in trail.rejections)


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
    trail: Trail,
    ledger: Ledger,
    reader_parameters: int | None,
    latency: Latency,
    memory: MemoryUse,
    settings: str,
) -> QueryRecord:
    """Put a query's trail and ledger into its record."""
    return QueryRecord(
        query_id=query_id,
        workload=workload,
        method=method,
        position=position,
        question=question,
        answer=trail.answer,
        status=trail.status,
        action=trail.action,
        cycles=trail.cycles,
        states=trail.states,
        considered=trail.considered,
        evidence=list(trail.evidence),
        rejections=trail.rejections,
        error=trail.error,
        parse_failures=parse_failures(trail),
        calls=ledger.calls,
        tokens=tokens_of(ledger),
        encoder_tokens=ledger.encoder_tokens,
        ret=reader_equivalent(ledger.calls, reader_parameters),
        latency=latency,
        memory=memory,
        settings=settings,
    )
