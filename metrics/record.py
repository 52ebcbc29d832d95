"""The record of one query, and the reference that it is scored against: the types that programs write and metrics read.

What a query commits or pays is recorded as it was made, so the state's evidence, the contract's rejections and the
ledger's calls are these same types; nothing is translated in between. `programs/record.schema.json` is their schema.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from metrics.weights import weight

RECORD_VERSION: Literal[1] = 1
MOST = 10**15
"""More than any run counts or takes, and few enough that sums stay exact and finite."""
Count = Annotated[int, Field(ge=0, le=MOST)]
Amount = Annotated[float, Field(ge=0, le=MOST)]


class Role(StrEnum):
    """Who may propose. SMP supplies the artifact field; the four operators supply the others, in this order."""

    PLANNER = "planner"
    NAVIGATOR = "navigator"
    RETRIEVER = "retriever"
    VERIFIER = "verifier"
    SMP = "smp"


class StateField(StrEnum):
    """The five fields."""

    PLAN = "plan"
    PATH = "path"
    EVIDENCE = "evidence"
    VERDICT = "verdict"
    ARTIFACTS = "artifacts"


class Action(StrEnum):
    """What the controller chooses. REVISE is the only one that does not end the query."""

    BYPASS = "BYPASS"
    RELEASE = "RELEASE"
    REVISE = "REVISE"
    FALLBACK = "FALLBACK"


class VerdictLabel(StrEnum):
    """𝒱. PENDING only opens a cycle; a completed cycle has PASS or FAIL."""

    PENDING = "PENDING"
    PASS = "PASS"
    FAIL = "FAIL"


class Reason(StrEnum):
    """Why a proposal was not committed."""

    MALFORMED = "malformed"
    """The completion could not be read as the role's type."""
    TRUNCATED = "truncated"
    """The completion was cut at its token limit before it was complete."""
    NO_PROPOSAL = "no_proposal"
    """The role had nothing to offer: no trace reached an Evidence node, no candidate was kept."""
    WRONG_TYPE = "wrong_type"
    EMPTY = "empty"
    PLAN_SCHEMA = "plan_schema"
    UNKNOWN_NODE = "unknown_node"
    NOT_FROM_ROOT = "not_from_root"
    NOT_AT_EVIDENCE = "not_at_evidence"
    NO_SUCH_EDGE = "no_such_edge"
    INADMISSIBLE_TYPES = "inadmissible_types"
    REPEATED_TRACE = "repeated_trace"
    TOO_MANY_TRACES = "too_many_traces"
    REPEATED_EVIDENCE = "repeated_evidence"
    OVER_CAP = "over_cap"
    OUTSIDE_REGION = "outside_region"
    UNKNOWN_SOURCE = "unknown_source"
    BAD_OFFSETS = "bad_offsets"
    TEXT_DIFFERS = "text_differs"
    WRONG_CYCLE = "wrong_cycle"
    VERDICT_LABEL = "verdict_label"
    NO_JUSTIFICATION = "no_justification"
    UNKNOWN_ARTIFACT = "unknown_artifact"
    OVER_CONTEXT = "over_context"
    """The prompt did not fit the model's context."""


UNREADABLE = (Reason.MALFORMED, Reason.TRUNCATED)
"""The reasons of completions from which nothing could be read."""


class Phase(StrEnum):
    """Which part of RET a call belongs to."""

    READER = "reader"
    AUX = "aux"
    INDEX = "index"


class Address(BaseModel):
    """Characters [start, end) of a source."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str
    start: int = Field(ge=0)
    end: int


class Derived(BaseModel):
    """Says that a text is not source text, what it is, and which regions of the sources it was made from."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str = Field(min_length=1, description="summary, statement, report, …")
    regions: tuple[Address, ...] = Field(min_length=1)


class EvidenceRecord(BaseModel):
    """One item of the evidence field E: characters of a source, and the cycle that committed them.

    A baseline may also hand over a text that a model made; `derived` says so, and the record's own address is then
    that of the first region it was made from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    evidence_id: str
    source_id: str
    start: int = Field(ge=0)
    end: int
    text: str
    cycle: int = Field(ge=0, description="0 before the first cycle (BYPASS), else the cycle that first committed it")
    derived: Derived | None = Field(None, description="None where the text is source text")
    region: str | None = Field(
        None, description="id of the region of which this is a part, some of its sentences; None where it is whole"
    )

    @property
    def home(self) -> str:
        """The id of the region that it is, or is a part of."""
        return self.region or self.evidence_id


class Commit(BaseModel):
    """One committed field value. The commits in order are the query's whole history of states."""

    model_config = ConfigDict(frozen=True)
    cycle: int
    role: Role
    field: StateField
    value: Any


class Considered(BaseModel):
    """The evidence that a role had before it when it proposed, whether or not its proposal was committed.

    The Navigator's is what it scored, the ends of its traces first; the Retriever's is its candidates, in order.
    """

    model_config = ConfigDict(frozen=True)
    cycle: int
    role: Role
    evidence_ids: tuple[str, ...]


class Rejection(BaseModel):
    """A proposal that was not committed, kept whole in the query's record."""

    model_config = ConfigDict(frozen=True)
    role: Role
    field: StateField
    cycle: int
    reason: Reason
    detail: str
    value: Any = None
    completion: str | None = None


class Call(BaseModel):
    """One call, as it is written to the query's record."""

    model_config = ConfigDict(frozen=True)
    query_id: str
    role: str
    phase: Phase
    model: str
    parameters: Count | None = None
    prompt_tokens: Count
    completion_tokens: Count
    seconds: Amount
    finish_reason: str
    truncated: bool
    prompt_hash: str
    transport_retries: Count = 0
    error: str | None = None

    @property
    def tokens(self) -> int:
        """Input and output together, which is what RET weighs."""
        return self.prompt_tokens + self.completion_tokens


class Tokens(BaseModel):
    """LLM tokens by phase."""

    reader: Count
    aux: Count
    index: Count


class ReaderEquivalentTokens(BaseModel):
    """RET = Σ weight(model) · tokens, over all calls, and what a token of each model weighed."""

    tokens: Amount | None = Field(description="None where a model that was asked has no known weight")
    weights: dict[str, Amount | None] = Field(description="model to the weight of a token of it, the reader's being 1")

    @classmethod
    def of(cls, calls: Sequence[Call], reader: str, reader_parameters: int | None) -> Self:
        """Weigh calls against the reader that they are made for, whether or not it was called."""
        weighed = [(call, weight(call.model, call.parameters, reader, reader_parameters)) for call in calls]
        known = [share * call.tokens for call, share in weighed if share is not None]
        return cls(
            tokens=math.fsum(known) if len(known) == len(weighed) else None,
            weights={call.model: share for call, share in weighed},
        )

    @model_validator(mode="before")
    @classmethod
    def _as_it_once_was(cls, value: Any) -> Any:
        """Read what was written when RET was given twice, with the paper's weight for all and by size."""
        if isinstance(value, Mapping) and "parameters" in value:
            return {"tokens": value["parameters"], "weights": {}}
        return value


class Latency(BaseModel):
    """Seconds: building what the query needed, and answering it.

    What a cache of vectors spared is told apart, so that methods can be compared as if each had run on its own.
    """

    index: Amount
    online: Amount
    spared_index: Amount = 0.0
    spared_online: Amount = 0.0


class MemoryUse(BaseModel):
    """Permitted reads of global memory, and those that returned something."""

    reads: Count
    hits: Count


class Refusal(BaseModel):
    """An operation on memory that the permission table did not grant. It read nothing and wrote nothing."""

    model_config = ConfigDict(frozen=True)
    role: Role
    operation: str
    scope: str
    kind: str
    reason: str


class SupportStatus(StrEnum):
    """What can be said of an answer beside its evidence."""

    SUPPORTED = "supported"
    """The evidence answers the question, and a sentence of it holds the answer."""
    UNSUPPORTED = "unsupported"
    """The evidence seems to answer the question, but no sentence of it holds this answer."""
    NOT_FOUND = "not found"
    """The evidence does not answer the question: whatever was answered is a guess."""


class Quote(Address):
    """A sentence that an answer rests on, in the source of an evidence record."""

    evidence_id: str
    relevance: float = Field(description="how much the sentence bears on the question, from 0 to 1")


class Support(BaseModel):
    """Whether an answer stands on its evidence. An evaluation scores the answer all the same, as the best guess."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    status: SupportStatus
    probability: float = Field(description="that the evidence answers the question")
    quotes: tuple[Quote, ...] = Field((), description="sentences that it rests on, or that come nearest; best first")
    missing: tuple[str, ...] = Field((), description="names of the question that stand nowhere in the evidence")
    cited: bool | None = Field(
        None,
        description="whether the evidence that the reader named holds the answer; None where it named none, or where "
        "the answer is a plain yes or no",
    )


class QueryRecord(BaseModel):
    """Everything that can be asked of a query afterwards."""

    model_config = ConfigDict(extra="forbid")
    version: Literal[1] = RECORD_VERSION
    query_id: str
    workload: str
    method: str
    position: Count
    question: str
    answer: str
    cited: tuple[str, ...] = Field(
        (), description="ids of the evidence that the reader named for its answer; none where it is not asked to"
    )
    status: Literal["completed", "incomplete"]
    support: Support | None = Field(None, description="None where nothing was answered, or nothing can judge it")
    action: Action | None
    cycles: Count
    states: list[Commit]
    considered: list[Considered] = Field(
        default_factory=list, description="what roles had before them; none where a method or an older run says none"
    )
    evidence: list[EvidenceRecord]
    rejections: list[Rejection]
    error: str | None = Field(None, description="the fault that ended an incomplete query, where it was no rejection")
    parse_failures: Count = Field(0, description="completions that could not be read as what was asked for")
    calls: list[Call]
    tokens: Tokens
    encoder_tokens: Count
    ret: ReaderEquivalentTokens
    latency: Latency
    memory: MemoryUse
    refusals: list[Refusal] = Field(default_factory=list, description="what roles asked of memory and may not")
    settings: str = Field(description="digest of the settings that it ran with")
    manifest: str | None = Field(None, description="digest of the manifest of the run that it belongs to")
    check: str | None = Field(
        None,
        description="sha256 of the line without this field, which is its last; a line of an older version has none",
    )

    @model_validator(mode="after")
    def _weigh_again(self) -> Self:
        """Give a record of before weights were written its RET, as far as its calls say what the reader was."""
        reader = next((call for call in self.calls if call.phase is Phase.READER), None)
        if reader is not None and not self.ret.weights:
            self.ret = ReaderEquivalentTokens.of(self.calls, reader.model, reader.parameters)
        return self

    @property
    def is_complete(self) -> bool:
        """Whether the query reached its answer; one that did not scores 0 in every quality metric."""
        return self.status == "completed"

    def committed(self, field: StateField) -> dict[int, Any]:
        """Give the values that were committed to a field, by their cycle, as plain JSON values."""
        return {commit.cycle: commit.value for commit in self.states if commit.field is field}

    def committed_evidence(self) -> dict[int, tuple[EvidenceRecord, ...]]:
        """Give the evidence that was committed, by its cycle; what is not typed, as in a free-form carrier, is not."""
        found = self.committed(StateField.EVIDENCE)
        return {cycle: EVIDENCE.validate_python(value) for cycle, value in found.items() if isinstance(value, list)}


def record_schema() -> dict[str, Any]:
    """Give the JSON Schema that ships as `programs/record.schema.json`."""
    schema = QueryRecord.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "StateRAG query record", **schema}


EVIDENCE = TypeAdapter(tuple[EvidenceRecord, ...])


class GoldPassage(BaseModel):
    """A passage that an answer needs: characters [start, end) of a source. They begin with its title."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    source_id: str
    title: str
    start: int = Field(ge=0)
    end: int


class Reference(BaseModel):
    """What a query is scored against. No method receives one."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    query_id: str = Field(min_length=1)
    answers: tuple[str, ...] = Field(description="any of them is right; without any, the query is run and not scored")
    supporting: tuple[str, ...] = Field((), description="ids of the sources that the answer needs, where known")
    passages: tuple[tuple[GoldPassage, ...], ...] = Field(
        (),
        description="the passages that the answer needs, where one source holds many; a title that the source repeats "
        "gives several of which any will do, and one that it lacks gives none",
    )
    answerable: bool = Field(True, description="false where what the answer needs was taken out of the sources")
    question_type: str | None = None
    cluster: str | None = Field(None, description="what questions on one source have in common; None stands alone")
