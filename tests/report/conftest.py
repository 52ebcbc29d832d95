"""Score tables made up for the tests: methods of a known strength on small workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from metrics.scores import METRICS, ScoreTable

Maker = Callable[..., ScoreTable]
LONGBENCH = ("longbench/hotpotqa", "longbench/2wikimqa", "longbench/musique")


def make(
    method: str,
    workload: str,
    n: int = 40,
    *,
    strength: float = 0.5,
    seconds: float = 2.0,
    tokens: float = 900.0,
    questions_a_document: int = 1,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    **fixed: float,
) -> ScoreTable:
    """Draw a table. `fixed` sets a metric of every query."""
    rng = np.random.default_rng([seed, *map(ord, method), *map(ord, workload)])
    names = list(ids) if ids is not None else [f"q{i}" for i in range(n)]
    values = {name: np.full(len(names), np.nan) for name in METRICS}
    right = (rng.random(len(names)) < strength).astype(float)
    partial = np.clip(right + (1 - right) * rng.random(len(names)) * 0.3, 0, 1)
    values |= {"em": right, "f1": partial, "accuracy": right.copy(), "anls": partial.copy()}
    values |= {
        "passage_recall": np.round(rng.random(len(names)) * strength * 4) / 4,
        "answer_in_evidence": right.copy(),
    }
    values["title_recall"] = values["passage_recall"].copy()
    online = rng.gamma(4, seconds / 5, len(names))
    index = rng.gamma(4, seconds / 20, len(names))
    values |= {"latency": online + index, "latency_online": online, "latency_index": index}
    aux, made = rng.poisson(tokens, len(names)).astype(float), rng.poisson(tokens * 2, len(names)).astype(float)
    reader = rng.poisson(500, len(names)).astype(float)
    values |= {"tokens_reader": reader, "tokens_aux": aux, "tokens_index": made, "ret": reader + 8 / 14 * (aux + made)}
    for name in ("incomplete", "parse_failures", "truncations", "admission_violations", "rejections"):
        values[name] = np.zeros(len(names))
    for name in ("cycles", "calls", "reader_calls", "reached_reader", "memory_reads", "memory_hits"):
        values[name] = np.ones(len(names))
    values |= {name: np.full(len(names), value) for name, value in fixed.items()}
    return ScoreTable(
        method=method,
        workload=workload,
        query_ids=names,
        positions=list(range(len(names))),
        clusters=[f"d{i // questions_a_document}" for i in range(len(names))],
        question_types=[None] * len(names),
        rejections=[()] * len(names),
        values=values,
    )


@pytest.fixture
def made() -> Maker:
    """Give the maker of score tables."""
    return make


@pytest.fixture
def longbench() -> list[ScoreTable]:
    """Three methods on all three tasks."""
    strengths = {"vanilla": (0.35, 0.5), "react": (0.45, 3.0), "staterag": (0.6, 5.0)}
    return [make(m, task, strength=s, seconds=t) for m, (s, t) in strengths.items() for task in LONGBENCH]
