"""Runs that are there to be killed: whole evaluations of little work, each in a process of its own.

A fork server imports this module once, so that a child begins with its work and not with imports.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from programs.commands.terminal import plain_errors
from programs.content_key import content_key
from programs.methods.registry import spec
from programs.models.engines.dry_run import DryRunEngine
from programs.models.engines.engine import ChatRequest, Completion, Engine, WrappedEngine
from programs.models.language_model import LanguageModel
from programs.models.ledger import current_scope
from programs.models.runtime import Runtime
from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation
from programs.workloads.manifest import AnyManifest
from tests.campaign.clock_jumps import jump
from tests.support.runs import ASKS_MODELS, make_evaluation, opinions
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import small_settings

LATENCY = 0.001
TURNED_AWAY = 2
"""The exit code of what the user can mend, as the command line has it."""


@dataclass(frozen=True)
class Victim:
    """A run: its methods, how many of its queries at once, and whether answers only have the right shape."""

    methods: str
    workers: int = 1
    rehearsed: bool = False
    queries: int = 10

    def evaluation(self) -> Evaluation:
        return make_evaluation(self.methods, queries=self.queries, collections=3)

    def run(self, out: Path, manifest: AnyManifest, log: int) -> None:
        """Begin the run or go on with it; every call that is really made is written to an open log."""
        scripted = ScriptedEngine(opinions, parameters=1000, latency=LATENCY)
        answering: Engine = DryRunEngine(scripted, costliest=False) if self.rehearsed else scripted
        model = LanguageModel(ChargedEngine(answering, log))
        settings = small_settings(**ASKS_MODELS)
        runtime = Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder())
        evaluate(self.evaluation(), manifest, runtime, out, resume=True, workers=self.workers)


VICTIMS = {
    "staterag": Victim("staterag"),
    "several methods": Victim("vanilla,dosrag,staterag", queries=6),
    "four at once": Victim("vanilla", workers=4, queries=30),
    "an index by a model": Victim("graphrag", rehearsed=True, queries=3),
}


@dataclass(frozen=True)
class ChargedEngine(WrappedEngine):
    """An engine that costs something: each call is on the bill as soon as it is answered."""

    log: int

    def complete(self, request: ChatRequest) -> Completion:
        completion = self.engine.complete(request)
        name = call_name(current_scope().ledger.query_id, self.model, request)
        os.write(self.log, name.encode() + b"\n")
        return completion


def call_name(query_id: str, model: str, request: ChatRequest) -> str:
    """Name a call as the journal of a run does."""
    return content_key(query_id, model, "complete", json.dumps(asdict(request), sort_keys=True))


def run_victim(
    name: str,
    out: str,
    manifest: AnyManifest,
    charged: str,
    *,
    clocks: int | None = None,
    largest_file: int | None = None,
) -> None:
    """Be killed, be turned away, or end; a mishap that is named befalls the whole process."""
    if clocks is not None:
        jump(clocks)
    bill = charged if largest_file is None else os.devnull  # what may not grow is the product's files, not the bill
    log = os.open(bill, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    try:
        with plain_errors():
            VICTIMS[name].run(Path(out), manifest, log)
    except typer.Exit as exit:
        sys.exit(exit.exit_code)


for _victim in VICTIMS.values():
    for _method in _victim.methods.split(","):
        spec(_method).load()
