"""Excerpts: a region cut to its heading, its first sentence, and the sentences that bear most on what is wanted.

A small reader answers better from less, and a region that was chosen for one sentence of it brings the others along.
What is left are characters of the source like any other evidence: each run of sentences is a record of its own, which
names the region that it is a part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

import numpy as np
import numpy.typing as npt

from programs.contract import evidence_id
from programs.documents.sections import body_start, heading_of
from programs.models.encoders.encoder import CrossEncoder
from programs.state import EvidenceRecord
from programs.support import Sentence, sentences_of

Sentences = list[Sentence]


def excerpts(
    records: Sequence[EvidenceRecord], wanted: Sequence[str], scorer: CrossEncoder, sentences: int | None
) -> tuple[EvidenceRecord, ...]:
    """Cut each record to its opening and the sentences that bear most on any of what is wanted, in the text's order.

    None keeps records whole, and so is a record that has no more than what would be kept of it.
    """
    if sentences is None:
        return tuple(records)
    bodies = [_body(record) for record in records]
    told = [sentence.told for sentence in chain.from_iterable(bodies)]
    scores = np.max([scorer.score(want, told) for want in wanted], axis=0) if told else np.zeros(0)
    cut: list[EvidenceRecord] = []
    first = 0
    for record, body in zip(records, bodies, strict=True):
        kept = _kept(scores[first : first + len(body)], sentences)
        cut.extend([record] if len(kept) >= len(body) else _runs(record, body, kept))
        first += len(body)
    return tuple(cut)


def _body(record: EvidenceRecord) -> Sentences:
    """Give the sentences of a record that are no headings."""
    start = record.start + body_start(record.text)
    return [sentence for sentence in sentences_of(record, heading_of(record.text)) if sentence.start >= start]


def _kept(scores: npt.NDArray[np.float64], sentences: int) -> list[int]:
    """Choose the first sentence and the best others, ties in the text's order."""
    others = [int(place) for place in np.argsort(-scores, kind="stable") if place]
    return sorted([0, *others[:sentences]])


def _runs(record: EvidenceRecord, body: Sentences, kept: Sequence[int]) -> list[EvidenceRecord]:
    """Join sentences that stand next to each other; the first run begins with the heading."""
    runs = [[place for _, place in run] for _, run in groupby(enumerate(kept), lambda pair: pair[1] - pair[0])]
    spans = [(body[run[0]].start if run[0] else record.start, body[run[-1]].end) for run in runs]
    return [
        record.model_copy(
            update={
                "evidence_id": evidence_id(record.source_id, start, end),
                "start": start,
                "end": end,
                "text": record.text[start - record.start : end - record.start],
                "region": record.home,
            }
        )
        for start, end in spans
    ]
