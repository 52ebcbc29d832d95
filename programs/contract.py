"""The contract: who may write which field, and when a proposed value is accepted.

`Contract.commit` is the one door through which a state changes. It takes the role, not a field, so no caller can aim
at a field that the role does not own; it judges the value with that field's validator; and it answers with the next
state or with a `Rejection`, which is data for the query's record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from metrics.record import Reason as Reason
from metrics.record import Rejection as Rejection
from metrics.stages import address
from programs.frozen import Frozen
from programs.state import (
    ADMISSIBLE,
    OWNED_FIELD,
    PENDING,
    Address,
    Derived,
    EvidenceRecord,
    NodeType,
    Path,
    Role,
    State,
    StateField,
    Trace,
    Verdict,
    VerdictLabel,
    _successor,
)
from signatures.planner import Plan

Model = TypeVar("Model", bound=BaseModel)
MODELS: tuple[type[BaseModel], ...] = (Plan, Verdict, EvidenceRecord, Derived, Address)
"""All models that a state is made of."""
DEEPEST = 6
"""How deep they nest: a tuple of records, a record, what it is derived from, its addresses, an address, a number."""
LARGEST = 2**63 - 1
MEMBER_FAULTS: Mapping[tuple[object, ...], Reason] = {
    (Plan, "objective"): Reason.PLAN_SCHEMA,
    (Plan, "targets"): Reason.PLAN_SCHEMA,
    (EvidenceRecord, "start"): Reason.BAD_OFFSETS,
    (EvidenceRecord, "end"): Reason.BAD_OFFSETS,
    (EvidenceRecord, "cycle"): Reason.WRONG_CYCLE,
    (Verdict, "label"): Reason.VERDICT_LABEL,
}
"""What a member outside its model's schema is rejected as, where that is more than a wrong type."""


class Fault(Exception):
    """A validator's way of saying no; `Contract.commit` turns it into a `Rejection`."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class TypedPaths(Protocol):
    """What the contract must know of a typed graph to judge paths and provenance."""

    @property
    def root(self) -> int: ...

    def node_type(self, node: int) -> NodeType | None:
        """Give a node's type, or None where there is no such node."""

    def has_edge(self, parent: int, child: int) -> bool:
        """Tell whether the graph has this directed edge."""

    def region_ids(self, node: int) -> Collection[str]:
        """Give the evidence ids of ρ(node)."""


class Limits(Frozen):
    """The caps that validators hold proposals to."""

    keep_first: int = 5
    keep_revised: int = 7
    max_traces: int = 1
    carry: bool = True

    def cap(self, cycle: int) -> int:
        """Give the most evidence records that a cycle may keep."""
        return self.keep_first if cycle <= 1 else self.keep_revised


class FieldTypes:
    """The contract's first two elements: each field has a type, and each role one field that it may write.

    What a value says is not judged here: a path may lead nowhere, evidence may be from anywhere. `Contract` judges it.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources

    def open_cycle(self, state: State) -> State:
        """Stage a cycle: z ← ⟨PENDING, ε⟩. The only write that needs no proposal, and it only forgets."""
        return _successor(state, StateField.VERDICT, PENDING)

    def commit(self, state: State, role: Role, value: Any, cycle: int) -> State | Rejection:
        """Judge a role's value for its own field; answer the next state, or why there is none."""
        field = OWNED_FIELD[role]
        try:
            accepted = self._accepted(field, value, state, cycle)
        except Fault as fault:
            return rejected(role, field, cycle, fault, value)
        return _successor(state, field, accepted)

    def typed(self, field: StateField, value: Any) -> Any:
        """Give a value as its field's type, made anew, or raise a `Fault`."""
        return self._types[field](value)

    def _accepted(self, field: StateField, value: Any, state: State, cycle: int) -> Any:
        return self.typed(field, value)

    @staticmethod
    def _plan(value: Any) -> Plan:
        return rebuilt(Plan, value)

    @staticmethod
    def _path(value: Any) -> Path:
        value = plain_data(value)
        if type(value) is not tuple or not all(
            type(trace) is tuple and all(type(node) is int for node in trace) for trace in value
        ):
            raise Fault(Reason.WRONG_TYPE, "a tuple of traces, each a tuple of node ids, was expected")
        if not value:
            raise Fault(Reason.EMPTY, "a path has at least one trace")
        if () in value:
            raise Fault(Reason.NOT_FROM_ROOT, "a trace has at least the root")
        return value

    @staticmethod
    def _evidence(value: Any) -> tuple[EvidenceRecord, ...]:
        if type(value) is not tuple or not all(type(record) is EvidenceRecord for record in value):
            raise Fault(Reason.WRONG_TYPE, "a tuple of evidence records was expected")
        if not value:
            raise Fault(Reason.EMPTY, "at least one evidence record must be kept")
        records = tuple(rebuilt(EvidenceRecord, record) for record in value)
        for record in records:
            if record.derived is not None:
                raise Fault(Reason.TEXT_DIFFERS, f"{record.evidence_id} is a {record.derived.kind}, not source text")
        return records

    @staticmethod
    def _verdict(value: Any) -> Verdict:
        verdict = rebuilt(Verdict, value)
        if verdict.label is VerdictLabel.PENDING:
            raise Fault(Reason.VERDICT_LABEL, "PENDING does not complete a cycle: PASS or FAIL does")
        return verdict

    @staticmethod
    def _artifacts(value: Any) -> tuple[str, ...]:
        value = plain_data(value)
        if type(value) is not tuple or not all(type(item) is str for item in value):
            raise Fault(Reason.WRONG_TYPE, "a tuple of artifact ids was expected")
        return value

    _types: Mapping[StateField, Callable[[Any], Any]] = {
        StateField.PLAN: _plan,
        StateField.PATH: _path,
        StateField.EVIDENCE: _evidence,
        StateField.VERDICT: _verdict,
        StateField.ARTIFACTS: _artifacts,
    }


class Contract(FieldTypes):
    """The validators of one query: its graph, its sources, its limits, and what earlier cycles committed."""

    def __init__(
        self,
        paths: TypedPaths,
        sources: Mapping[str, str],
        limits: Limits,
        readable_artifacts: Callable[[str], bool],
    ) -> None:
        super().__init__(sources)
        self._paths = paths
        self._limits = limits
        self._readable = readable_artifacts
        self._committed: dict[str, EvidenceRecord] = {}

    def _accepted(self, field: StateField, value: Any, state: State, cycle: int) -> Any:
        typed = self.typed(field, value)
        if field is StateField.PATH:
            self._judge_path(typed)
        elif field is StateField.EVIDENCE:
            self._judge_evidence(typed, state, cycle)
        elif field is StateField.VERDICT:
            self._judge_verdict(typed)
        elif field is StateField.ARTIFACTS:
            self._judge_artifacts(typed)
        return typed

    def _judge_path(self, path: Path) -> None:
        if len(path) > self._limits.max_traces:
            raise Fault(Reason.TOO_MANY_TRACES, f"{len(path)} traces where {self._limits.max_traces} may be committed")
        if len(set(path)) != len(path):
            raise Fault(Reason.REPEATED_TRACE, "the same trace is given twice")
        for trace in path:
            self._judge_trace(trace)

    def _judge_trace(self, trace: Trace) -> None:
        if trace[0] != self._paths.root:
            raise Fault(Reason.NOT_FROM_ROOT, f"trace {trace} does not start at the root {self._paths.root}")
        types: list[NodeType] = []
        for node in trace:
            kind = self._paths.node_type(node)
            if kind is None:
                raise Fault(Reason.UNKNOWN_NODE, f"there is no node {node}")
            types.append(kind)
        for i in range(len(trace) - 1):
            if not self._paths.has_edge(trace[i], trace[i + 1]):
                raise Fault(Reason.NO_SUCH_EDGE, f"there is no edge {trace[i]} → {trace[i + 1]}")
            if (types[i], types[i + 1]) not in ADMISSIBLE:
                raise Fault(Reason.INADMISSIBLE_TYPES, f"{types[i]} → {types[i + 1]} is not admissible")
        if types[-1] is not NodeType.EVIDENCE:
            raise Fault(Reason.NOT_AT_EVIDENCE, f"trace {trace} ends at a {types[-1]} node")

    def _judge_evidence(self, records: tuple[EvidenceRecord, ...], state: State, cycle: int) -> None:
        cap = self._limits.cap(cycle)
        parts = [record.region for record in records if record.region is not None]
        kept = len(records) - len(parts) + len(set(parts))  # the parts of a region count as one: it was chosen once
        if kept > cap:
            raise Fault(Reason.OVER_CAP, f"{kept} records where {cap} may be kept")
        ids = [record.evidence_id for record in records]
        if len(set(ids)) != len(ids):
            raise Fault(Reason.REPEATED_EVIDENCE, f"an evidence id is repeated: {ids}")
        region = {eid for trace in state.path for eid in self._paths.region_ids(trace[-1])}
        for record in records:
            self._judge_record(record, region, cycle)
        for record in records:
            self._committed.setdefault(record.evidence_id, record)

    def _judge_record(self, record: EvidenceRecord, region: Collection[str], cycle: int) -> None:
        check_provenance(record, self.sources)
        earlier = self._committed.get(record.evidence_id) if self._limits.carry else None
        if earlier is not None and record == earlier:
            return  # carried: validated against its own region, and it says which cycle
        if record.cycle != cycle:
            raise Fault(Reason.WRONG_CYCLE, f"{record.evidence_id} says cycle {record.cycle} in cycle {cycle}")
        if record.home not in region:
            raise Fault(Reason.OUTSIDE_REGION, f"{record.home} is not in the region of the committed path")
        if record.region is not None and not _is_part(record, address(record.region)):
            raise Fault(Reason.OUTSIDE_REGION, f"{record.evidence_id} is no part of {record.region}")
        if evidence_id(record.source_id, record.start, record.end) != record.evidence_id:
            raise Fault(Reason.BAD_OFFSETS, f"{record.evidence_id} does not stand at {record.start}–{record.end}")

    def _judge_verdict(self, verdict: Verdict) -> None:
        if verdict.label is VerdictLabel.FAIL and not verdict.justification.strip():
            raise Fault(Reason.NO_JUSTIFICATION, "a FAIL says what is missing")

    def _judge_artifacts(self, artifacts: tuple[str, ...]) -> None:
        for item in artifacts:
            if not self._readable(item):
                raise Fault(Reason.UNKNOWN_ARTIFACT, f"{item!r} is in no scope that this query may read")


def rejected(role: Role, field: StateField, cycle: int, fault: Fault, value: Any) -> Rejection:
    """Write a refused value down as data."""
    return Rejection(role=role, field=field, cycle=cycle, reason=fault.reason, detail=fault.detail, value=shown(value))


def check_provenance(record: EvidenceRecord, sources: Mapping[str, str]) -> None:
    """Raise a `Fault` unless the record's text is its source's characters at its offsets.

    A derived text can't be compared; the regions that it says it was made from must exist.
    """
    if record.derived is not None:
        for region in record.derived.regions:
            characters(region.source_id, region.start, region.end, sources)
    elif characters(record.source_id, record.start, record.end, sources) != record.text:
        raise Fault(Reason.TEXT_DIFFERS, f"the text is not {record.source_id!r} at {record.start}–{record.end}")


def _is_part(record: EvidenceRecord, whole: Address) -> bool:
    return record.source_id == whole.source_id and whole.start <= record.start and record.end <= whole.end


def characters(source_id: str, start: int, end: int, sources: Mapping[str, str]) -> str:
    """Give the characters of a source at an address, or say why it is none."""
    source = sources.get(source_id)
    if source is None:
        raise Fault(Reason.UNKNOWN_SOURCE, f"no source {source_id!r} in this collection")
    if not 0 <= start < end <= len(source):
        raise Fault(Reason.BAD_OFFSETS, f"characters {start}–{end} are not inside {source_id!r} (0–{len(source)})")
    return source[start:end]


def evidence_id(source_id: str, start: int, end: int) -> str:
    """Name a span of a source. The name is its address, so it is the same in every run and every method."""
    return f"{source_id}#{start}-{end}"


def rebuilt(kind: type[Model], value: Any) -> Model:
    """Make a model anew from its members, or raise a `Fault`: it may have been made without its checks."""
    if type(value) is not kind:
        raise Fault(Reason.WRONG_TYPE, f"{kind.__name__} was expected, not {type(value).__name__}")
    try:
        return kind.model_validate(plain_data(value), strict=True)
    except ValidationError as error:
        member = error.errors(include_url=False, include_input=False)[0]["loc"][:1]
        raise Fault(MEMBER_FAULTS.get((kind, *member), Reason.WRONG_TYPE), first_error(error)) from error


def plain_data(value: Any, depth: int = DEEPEST) -> Any:
    """Take a value apart into text, whole numbers, tuples and mappings of them, or raise a `Fault`.

    Exact types alone: a subclass can say one thing when it is judged and another when it is read. Half characters and
    numbers beyond 64 bits, which no record could be written with, are refused too.
    """
    kind = type(value)
    if value is None or kind is VerdictLabel or (kind is int and abs(value) <= LARGEST):
        return value
    if kind is str and value == written(value):
        return value
    if kind is tuple and depth:
        return tuple(plain_data(item, depth - 1) for item in value)
    if kind in MODELS and depth:
        members = vars(value)
        return {name: plain_data(members[name], depth - 1) for name in kind.model_fields if name in members}
    raise Fault(Reason.WRONG_TYPE, f"a {kind.__name__} of this sort or in this place is no part of a state")


def shown(value: Any, depth: int = DEEPEST) -> Any:
    """Show an offending value as JSON where it is plain, else say of what type it is. Asks nothing of the value."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return written(value)
    if kind is VerdictLabel:
        return value.value
    if kind is int:
        return value if abs(value) <= LARGEST else f"<int of {value.bit_length()} bits>"
    if kind is float:
        return value if math.isfinite(value) else str(value)
    if kind in (tuple, list) and depth:
        return [shown(item, depth - 1) for item in value]
    if kind is dict and depth:
        return {str(shown(key, 0)): shown(item, depth - 1) for key, item in value.items()}
    if kind in MODELS and depth:
        members = vars(value)
        return {name: shown(members[name], depth - 1) for name in kind.model_fields if name in members}
    return f"<{kind.__name__}>"


def written(text: str) -> str:
    """Write text so that UTF-8 can hold it: half of a character becomes its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def first_error(error: ValidationError) -> str:
    """Say the first thing that is wrong with a value, and where."""
    detail = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in detail["loc"])
    return f"{where}: {detail['msg']}" if where else detail["msg"]
