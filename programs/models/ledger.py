"""The ledger: every call to a model, with who made it and why. It outlives the exception that ends a query.

The engine under DSPy writes here (`programs.models.language_model`), so no call can go round it. Who is asking is a
context variable, because DSPy stands between the role and the engine and would not carry an argument through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from heapq import heapreplace

from metrics.record import Call as Call
from metrics.record import Phase as Phase


@dataclass
class Ledger:
    """The calls of one query, and the tokens that encoders read for it."""

    query_id: str
    calls: list[Call] = field(default_factory=list)
    encoder_tokens: int = 0
    replayed: dict[Phase, float] = field(default_factory=lambda: dict.fromkeys(Phase, 0.0))
    """Seconds of calls that a journal answered: the query took them, though not this time."""
    spared: dict[Phase, float] = field(default_factory=lambda: dict.fromkeys(Phase, 0.0))
    """Seconds of encoding that a cache spared the query."""
    _encoded: set[bytes] = field(default_factory=set)

    @contextmanager
    def scope(self, role: str, phase: Phase) -> Iterator[None]:
        """Charge what happens inside to this ledger, role and phase."""
        token = _scope.set(Scope(self, role, phase))
        try:
            yield
        finally:
            _scope.reset(token)

    def absorb(self, *parts: Ledger, lanes: int = 1) -> None:
        """Take over what was charged to ledgers of parts of this query, of which `lanes` ran at a time."""
        for part in parts:
            self.calls.extend(part.calls)
            self.encoder_tokens += part.encoder_tokens
        for phase in Phase:
            self.replayed[phase] += together([part.replayed[phase] for part in parts], lanes)
            self.spared[phase] += sum(part.spared[phase] for part in parts)

    def tokens(self, phase: Phase) -> int:
        """Sum the tokens of a phase."""
        return sum(call.tokens for call in self.calls if call.phase is phase)


def together(seconds: Iterable[float], lanes: int) -> float:
    """Say how long tasks take from first to last, if each starts as soon as one of the lanes is free."""
    free = [0.0] * lanes
    for each in seconds:
        heapreplace(free, free[0] + each)
    return max(free)


@dataclass(frozen=True)
class Scope:
    """Who is asking."""

    ledger: Ledger
    role: str
    phase: Phase


_unattributed = Scope(Ledger(query_id=""), role="unattributed", phase=Phase.AUX)
_scope: ContextVar[Scope] = ContextVar("ledger_scope", default=_unattributed)


def current_scope() -> Scope:
    """Say who is asking; a call outside every query is charged to a ledger of its own, never to nobody's."""
    return _scope.get()


def charge_encoder(tokens: int, content: bytes | None = None, spared: float = 0.0) -> None:
    """Note tokens that an encoder or cross-encoder read. They are reported beside RET, not in it.

    A named content counts once a query, and whether it was computed or remembered: a record must not depend on what
    an earlier run happened to leave in a cache. `spared` are the seconds that remembering it saved.
    """
    scope = _scope.get()
    ledger = scope.ledger
    if content is not None:
        if content in ledger._encoded:
            return
        ledger._encoded.add(content)
    ledger.encoder_tokens += tokens
    ledger.spared[scope.phase] += spared


@contextmanager
def uncharged() -> Iterator[None]:
    """Charge nobody for what happens inside: a cache charges by content instead."""
    with Ledger(query_id="").scope("cache", Phase.AUX):
        yield
