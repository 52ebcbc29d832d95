"""What a run would cost, before anything is spent: a few of its queries rehearsed with engines that ask nobody."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from metrics.record import QueryRecord
from programs.models.engines.dry_run import DryRunEngine
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.progress import counted
from programs.runner.evaluation import Evaluation
from programs.selection.configured import ConfiguredMethod
from programs.workloads.query import Query


@dataclass(frozen=True)
class Spread:
    """From the mildest course of the sampled queries to the costliest, for a whole run."""

    least: float
    most: float


@dataclass(frozen=True)
class Estimate:
    """What one method would spend on all queries, scaled up from a sample."""

    method: str
    queries: int
    sampled: int
    calls: Spread
    prompt_tokens: Spread
    completion_tokens: Spread
    ret: Spread | None
    """None where a model's size is not known."""


def estimate(evaluation: Evaluation, runtime: Runtime, sample: int) -> list[Estimate]:
    """Rehearse evenly spread queries with every method. Encoders do their real work; language models do none."""
    queries = spread(evaluation.queries, sample)
    estimates: list[Estimate] = []
    for configured in counted("rehearsals", evaluation.methods):
        mildest, costliest = (rehearse(configured, evaluation, runtime, queries, worst) for worst in (False, True))
        estimates.append(_scaled(configured.name, len(evaluation.queries), mildest, costliest))
    return estimates


def rehearse(
    configured: ConfiguredMethod, evaluation: Evaluation, runtime: Runtime, queries: Sequence[Query], costliest: bool
) -> list[QueryRecord]:
    """Run queries without asking anybody. Where schemas are only described, prompts are the same as under them."""
    configured = replace(configured, settings=configured.settings.changed({"lifecycle.constrained": True}))
    auxiliary = LanguageModel(DryRunEngine(runtime.auxiliary.engine, costliest))
    reader = LanguageModel(DryRunEngine(runtime.reader.engine, costliest))
    mute = replace(runtime, auxiliary=auxiliary, reader=reader)
    program = configured.open(mute, evaluation.workload.name)
    return [program.run(query) for query in queries]


def spread(queries: Sequence[Query], sample: int) -> list[Query]:
    """Take every so-manieth query, since workloads may be sorted."""
    count = min(max(sample, 1), len(queries))
    return [queries[i * len(queries) // count] for i in range(count)]


def _scaled(method: str, total: int, mildest: list[QueryRecord], costliest: list[QueryRecord]) -> Estimate:
    def across(value: Callable[[QueryRecord], float]) -> Spread:
        means = [statistics.fmean(map(value, course)) * total for course in (mildest, costliest)]
        return Spread(min(means), max(means))

    weighed = all(record.ret.tokens is not None for record in (*mildest, *costliest))
    return Estimate(
        method=method,
        queries=total,
        sampled=len(mildest),
        calls=across(lambda record: len(record.calls)),
        prompt_tokens=across(lambda record: sum(call.prompt_tokens for call in record.calls)),
        completion_tokens=across(lambda record: sum(call.completion_tokens for call in record.calls)),
        ret=across(lambda record: record.ret.tokens or 0) if weighed else None,
    )
