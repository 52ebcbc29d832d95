"""What a role is given: the query, the latest staged state, and the tools of its trade. Nothing that can write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dspy
import numpy as np
import numpy.typing as npt
from dspy.utils.exceptions import AdapterParseError

from programs.contract import Reason
from programs.memory.memory import Recollection
from programs.models.encoders.encoder import CrossEncoder, Encoder
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from programs.models.plain_text import numbered_items
from programs.settings import Settings
from programs.state import EvidenceRecord, Readable, Role
from programs.tam.graph import TypedGraph

GAP = " … "
"""Stands between parts of a region that do not touch."""


@dataclass(frozen=True)
class Tools:
    """The models and the graph that roles work with, bound for one query."""

    settings: Settings
    reader: LanguageModel
    auxiliary: LanguageModel
    encoder: Encoder
    cross_encoder: CrossEncoder | None
    graph: TypedGraph
    ledger: Ledger
    memories: Mapping[Role, Recollection]

    def query_vector(self, text: str) -> npt.NDArray[np.float32]:
        """Encode a question or a plan, charged to whoever asks."""
        vector: npt.NDArray[np.float32] = self.encoder.encode_queries([text])[0]
        return vector


@dataclass(frozen=True)
class View:
    """One role's turn: q, s^{t,i-1}, c_q, and the cycle's number."""

    query: str
    state: Readable
    revision: str
    cycle: int
    earlier: tuple[EvidenceRecord, ...]
    tools: Tools

    @property
    def query_id(self) -> str:
        """The query's id, as its ledger and its artifacts have it."""
        return self.tools.ledger.query_id

    @property
    def cap(self) -> int:
        """The most records that this cycle may keep."""
        return self.tools.settings.limits(max_traces=1).cap(self.cycle)


class ProposalFault(Exception):
    """A role has no value to propose; the controller records why."""

    def __init__(self, reason: Reason, detail: str, completion: str | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.completion = completion


@contextmanager
def asking(ledger: Ledger, role: Role) -> Iterator[None]:
    """Charge a role's calls, and turn a completion that can't be used into a fault of the proposal."""
    with ledger.scope(role.value, Phase.AUX):
        try:
            yield
        except AdapterParseError as error:
            raise unreadable(ledger, parse_detail(error), error.lm_response) from error
        except dspy.ContextWindowExceededError as error:
            raise ProposalFault(Reason.OVER_CONTEXT, str(error)) from error


def unreadable(ledger: Ledger, detail: str, completion: str) -> ProposalFault:
    """Make the fault of a last completion that is no use: cut before its end, or of another form than it must have."""
    cut = bool(ledger.calls) and ledger.calls[-1].truncated
    return ProposalFault(Reason.TRUNCATED if cut else Reason.MALFORMED, detail, completion)


def parse_detail(error: AdapterParseError) -> str:
    """Say in a line or two what could not be read."""
    text: Any = error.args[0] if error.args else str(error)
    return " ".join(str(text).split())[:400]


def grouped(records: Sequence[EvidenceRecord]) -> str:
    """Show records to the reader: a number a region, its parts together."""
    return numbered_items(GAP.join(part.text for part in parts) for parts in regions_of(records))


def regions_of(records: Sequence[EvidenceRecord]) -> list[list[EvidenceRecord]]:
    """Put the parts of each region together, in the order of its text; regions stay in the order of the records."""
    regions: dict[str, list[EvidenceRecord]] = {}
    for record in records:
        regions.setdefault(record.home, []).append(record)
    return [sorted(parts, key=lambda part: part.start) for parts in regions.values()]


def numbered(records: Sequence[EvidenceRecord]) -> str:
    """Show records to a role: numbered from 1, with the address that it is asked to keep."""
    return numbered_items(f"({record.evidence_id})\n{record.text}" for record in records)
