"""RET: a call's tokens, weighed by the size of the model that it was made with. Calls of any query count alike."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.record import Call, Phase, QueryRecord, ReaderEquivalentTokens, Tokens

KAPPA = 8 / 14
"""The paper's nominal weight of its 7B auxiliary model against its 14B reader."""


def tokens_by_phase(calls: Sequence[Call]) -> Tokens:
    """Sum input and output tokens of the reader, of auxiliary work and of index construction."""
    return Tokens(**{phase.value: sum(call.tokens for call in calls if call.phase is phase) for phase in Phase})


def reader_equivalent(calls: Sequence[Call], reader_parameters: int | None) -> ReaderEquivalentTokens:
    """Give RET = T_reader + κ (T_aux + T_index), and the same with each call's true ratio to the reader's size.

    The latter is None where a size is not known. The reader's must be given, since a query may end before its call.
    """
    paper = sum(call.tokens * (1.0 if call.phase is Phase.READER else KAPPA) for call in calls)
    if not reader_parameters or any(call.parameters is None for call in calls):
        return ReaderEquivalentTokens(paper=paper, parameters=None)
    exact = sum(call.tokens * (call.parameters or 0) / reader_parameters for call in calls)
    return ReaderEquivalentTokens(paper=paper, parameters=exact)


def token_scores(record: QueryRecord) -> dict[str, float]:
    """Give a record's token metrics under their names, as it states them."""
    scores: dict[str, float] = {
        "ret": record.ret.paper,
        "tokens_reader": record.tokens.reader,
        "tokens_aux": record.tokens.aux,
        "tokens_index": record.tokens.index,
        "encoder_tokens": record.encoder_tokens,
    }
    return scores if record.ret.parameters is None else scores | {"ret_parameters": record.ret.parameters}
