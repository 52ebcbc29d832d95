"""Tokens of a query, by phase, and weighed as RET. Calls of any query count alike."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.record import Call, Phase, QueryRecord, Tokens


def tokens_by_phase(calls: Sequence[Call]) -> Tokens:
    """Sum input and output tokens of the reader, of auxiliary work and of index construction."""
    return Tokens(**{phase.value: sum(call.tokens for call in calls if call.phase is phase) for phase in Phase})


def token_scores(record: QueryRecord) -> dict[str, float]:
    """Give a record's token metrics under their names, as it states them."""
    scores: dict[str, float] = {
        "tokens_reader": record.tokens.reader,
        "tokens_aux": record.tokens.aux,
        "tokens_index": record.tokens.index,
        "encoder_tokens": record.encoder_tokens,
    }
    return scores if record.ret.tokens is None else {"ret": record.ret.tokens} | scores
