"""A model server that misbehaves in every way by a schedule, under whole runs.

A run ends whatever comes back; each query is complete, or incomplete with its reason; what its record says was spent is
what answered calls cost, to the token; and resumed on a sound server it asks nothing that was answered.
"""

from __future__ import annotations

import json
import random
import shutil
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import anyio
import pytest

from metrics.record import Phase
from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.engines.server import ServerEngine
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.runner.evaluate import evaluate
from programs.runner.folder import RunFolder
from tests.campaign.bad_answers import FAULTS, Spoken, reply
from tests.campaign.figures import Figures, measured
from tests.support.endpoint import Endpoint, send, served
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions, records_of
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder
from tests.support.worlds import small_settings

TIMEOUT = 0.8
LONGEST = 180.0
"""Seconds after which a run counts as hanging."""
SHARE = 0.4
"""Of the answers that are faults."""
HASTE = 0.02
"""Pauses between retries are shortened to this part of themselves; what is under test is not how long they are."""
REFUSED = "connection refused"
KINDS = (REFUSED, *FAULTS)
RUNS = (("vanilla", 40, 1), ("staterag", 20, 1), ("vanilla", 60, 4), ("graphrag", 3, 1))
"""Methods, questions, and how many of them at once."""


@dataclass
class Schedule:
    """Which answer is good and which is a fault, in an order that the seed alone decides."""

    draw: random.Random
    faults: bool = True
    played: Counter[str] = field(default_factory=Counter)
    spoken: Spoken = field(default_factory=Spoken)
    _bag: list[str] = field(default_factory=list)
    _drawn: deque[str | None] = field(default_factory=deque)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def draw_one(self) -> str | None:
        """Draw for a new connection: a fault, or None. Every kind comes before any comes again."""
        with self._guard:
            kind = None
            if self.faults and self.draw.random() < SHARE:
                self._bag = self._bag or self.draw.sample(KINDS, len(KINDS))
                kind = self._bag.pop()
                self.played[kind] += 1
            if kind != REFUSED:
                self._drawn.append(kind)
            return kind

    def take(self) -> str | None:
        """What was drawn for a connection that a request came by; one that is used again has nothing drawn."""
        with self._guard:
            return self._drawn.popleft() if self._drawn else None


def campaign(count: int, seed: int, folder: Path) -> Figures:
    """Run until so many faults were met."""
    draw = random.Random(seed)
    with measured("faults", seed, "faults of a server") as figures:
        number = 0
        while figures.count < count and number < count:
            methods, queries, workers = RUNS[number % len(RUNS)]
            schedule = Schedule(random.Random(draw.random()))
            place = folder / str(number)
            run_on(schedule, methods, queries, workers, place, figures)
            figures.count += schedule.played.total()
            figures.kinds.update(schedule.played)
            shutil.rmtree(place)
            number += 1
    return figures


def run_on(schedule: Schedule, methods: str, queries: int, workers: int, place: Path, figures: Figures) -> None:
    """Run on a server of this schedule, and go on with the run on one without faults."""
    evaluation = make_evaluation(methods, queries=queries)
    manifest = evaluation.manifest()
    with runtime_on(schedule) as runtime:
        for resume in (False, True):
            schedule.faults = not resume
            before = records_of(place) if resume else []
            asked = len(schedule.spoken.tokens)
            run = partial(
                evaluate, evaluation, manifest, runtime, place, resume=resume, workers=workers, stop_after=10**9
            )
            fault = outcome_of(run)
            if fault is not None:
                figures.find(f"{methods}: {fault}")
                break
            if resume:
                figures.expect(records_of(place) == before, f"{methods}: a resume changed records")
                figures.expect(len(schedule.spoken.tokens) == asked, f"{methods}: a resume asked again")
            else:
                check_records(place, queries, schedule, figures, methods)
    for complaint in schedule.spoken.complaints:
        figures.find(f"{methods}: {complaint}")


def outcome_of(run: Callable[[], object]) -> str | None:
    """Run to the end, and say how if that was not well."""
    caught: list[threading.ExceptHookArgs] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", caught.append)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(LONGEST)
    if thread.is_alive():
        return "the run hangs"
    return f"the run ended by {caught[0].exc_type.__name__}: {str(caught[0].exc_value)[:80]}" if caught else None


def check_records(place: Path, queries: int, schedule: Schedule, figures: Figures, what: str) -> None:
    records = list(RunFolder(place).records())
    figures.expect(
        sorted(record.position for record in records) == list(range(queries)), f"{what}: queries are missing or doubled"
    )
    charged: Counter[int] = Counter()
    for record in records:
        why = record.error or record.rejections
        figures.expect(record.is_complete != bool(why), f"{what}: {record.query_id} is {record.status}, and why: {why}")
        odd = [call for call in record.calls if call.prompt_tokens < 0 or call.completion_tokens < 0]
        figures.expect(not odd, lambda odd=odd: f"{what}: negative tokens in the ledger: {odd[0].tokens}")  # type: ignore[misc]
        charged.update(call.completion_tokens for call in record.calls if not call.error)
        total = {phase: sum(call.tokens for call in record.calls if call.phase is phase) for phase in Phase}
        figures.expect(
            total == {phase: getattr(record.tokens, phase.value) for phase in Phase},
            f"{what}: the tokens of {record.query_id} are not those of its calls",
        )
    # Each answer has a number of tokens that no other has, so the ledger names the answers that it was charged for.
    strangers = charged - Counter(schedule.spoken.tokens)
    figures.expect(not strangers, f"{what}: charged for what was not answered: {sorted(strangers)[:5]}")
    forgotten = Counter(schedule.spoken.good) - charged
    figures.expect(not forgotten, f"{what}: answered and not charged: {sorted(forgotten)[:5]}")


@contextmanager
def runtime_on(schedule: Schedule) -> Iterator[Runtime]:
    """A server of this schedule, and models that ask it."""

    def play(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        messages = tuple(ChatMessage(m["role"], m["content"]) for m in body["messages"])
        text = opinions(ChatRequest(messages, max_tokens=body["max_tokens"]))
        kind = schedule.take()
        if kind is None:
            reply(handler, json.dumps(schedule.spoken.answer(text)).encode())
        else:
            FAULTS[kind](handler, text, schedule.spoken)

    models = {"data": [{"id": "tiny", "max_model_len": 8192}]}
    endpoint = Endpoint(models=lambda handler, body: send(handler, models), answers=[play])
    with served(endpoint):
        engine = ServerEngine(endpoint.url, "tiny", timeout=TIMEOUT, retries=2, context=8192, sleep=hastily)
        model = LanguageModel(engine)
        with pytest.MonkeyPatch.context() as patch:
            connect_by(schedule, int(endpoint.url.rpartition(":")[2]), patch)
            yield Runtime(small_settings(**ASKS_MODELS), model, model, HashedEncoder(), OverlapCrossEncoder())
        engine.close()


def hastily(seconds: float) -> None:
    time.sleep(seconds * HASTE)


def connect_by(schedule: Schedule, port: int, patch: pytest.MonkeyPatch) -> None:
    """Draw a fault for each connection, and have the system refuse those that are to be refused."""
    connect = anyio.connect_tcp
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = closed.getsockname()[1]

    async def drawing(remote_host: Any, remote_port: int, **further: Any) -> Any:
        refused = remote_port == port and schedule.draw_one() == REFUSED
        return await connect(remote_host, nobody if refused else remote_port, **further)

    patch.setattr(anyio, "connect_tcp", drawing)
