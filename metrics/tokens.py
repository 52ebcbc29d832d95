"""Tokens and RET, counted again from a record's calls. Calls of an incomplete query count like any other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metrics.record import Calls, Record

KAPPA = 8 / 14
"""The paper's nominal weight of its 7B auxiliary model against its 14B reader."""


def tokens_by_phase(calls: Calls) -> dict[str, int]:
    """Sum input and output tokens of the reader, of auxiliary work and of index construction."""
    sums = {"reader": 0, "aux": 0, "index": 0}
    for call in calls:
        sums[call["phase"]] += _tokens(call)
    return sums


def reader_equivalent(reader: float, aux: float, index: float, kappa: float = KAPPA) -> float:
    """Weigh tokens: RET = T_reader + κ (T_aux + T_index)."""
    return reader + kappa * (aux + index)


def reader_equivalent_by_size(calls: Calls, reader_parameters: int | None = None) -> float | None:
    """Weigh each call's tokens by its own model's parameters over the reader's; None where a size is not known.

    The reader's size is read off its calls unless it is given.
    """
    sizes = (call["parameters"] for call in calls if call["phase"] == "reader")
    size = next(sizes, None) if reader_parameters is None else reader_parameters
    if not size or any(call["parameters"] is None for call in calls):
        return None
    return float(sum(_tokens(call) * call["parameters"] for call in calls) / size)


def token_scores(record: Record) -> dict[str, float]:
    """Give a record's token metrics under their names.

    Where the reader was not called, no call tells its size: RET by size is then the one that the record states.
    """
    phases = tokens_by_phase(record["calls"])
    by_size = reader_equivalent_by_size(record["calls"])
    if by_size is None:
        by_size = record["ret"]["parameters"]
    scores: dict[str, float] = {
        "ret": reader_equivalent(**phases),
        "tokens_reader": phases["reader"],
        "tokens_aux": phases["aux"],
        "tokens_index": phases["index"],
        "encoder_tokens": record["encoder_tokens"],
    }
    return scores if by_size is None else scores | {"ret_parameters": by_size}


def _tokens(call: Mapping[str, Any]) -> int:
    return int(call["prompt_tokens"] + call["completion_tokens"])
