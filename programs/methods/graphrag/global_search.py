"""Global search: every report is read for points towards an answer, and the points are the evidence.

The original has a last call combine the points into an answer; here the shared reader does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import dspy

from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.knowledge import KnowledgeIndex
from programs.methods.graphrag.settings import GraphragSettings
from programs.models.plain_text import numbered_items
from programs.state import EvidenceRecord
from signatures.baselines.graphrag import KeyPoint, RatePoints


class GlobalSearch(dspy.Module):  # type: ignore[misc]
    """One call a batch of reports."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = dspy.Predict(RatePoints)

    def search(self, index: KnowledgeIndex, asking: Asking, settings: GraphragSettings) -> list[EvidenceRecord]:
        """Give the points that help at all, the best first, ties in order of reading."""
        question = asking.run.query.question
        room = asking.room(settings.map_input_tokens, settings.map_tokens) - asking.tokens(question)
        batches = list(_batches(_reading_order(index, settings), index, asking, max(1, room)))
        many: list[dict[str, Any]] = [
            {"question": question, "reports": _numbered(batch, index, asking, max(1, room))} for batch in batches
        ]
        answers = asking.all(self.rate, "map", settings.map_tokens, many)
        points = [
            (point, _behind(point, batch))
            for batch, answer in zip(batches, answers, strict=True)
            if answer is not None
            for point in answer.found.points
            if point.score > 0 and point.description
        ]
        points.sort(key=lambda scored: -scored[0].score)
        return [_record(point, reports, index) for point, reports in points]


def _reading_order(index: KnowledgeIndex, settings: GraphragSettings) -> list[int]:
    """Shuffle the reports of the deepest communities up to the level, so that no batch is all of one kind."""
    reported = sorted(set(index.homes(settings.community_level).values()) & set(index.reports))
    random.Random(settings.shuffle_seed).shuffle(reported)
    return reported


def _batches(order: Sequence[int], index: KnowledgeIndex, asking: Asking, room: int) -> Iterator[list[int]]:
    batch: list[int] = []
    used = 0
    for number in order:
        size = asking.tokens(index.reports[number].text)
        if batch and used + size > room:
            yield batch
            batch, used = [], 0
        batch.append(number)
        used += size
    if batch:
        yield batch


def _numbered(batch: Sequence[int], index: KnowledgeIndex, asking: Asking, room: int) -> str:
    """Number the reports of a batch from 1: small numbers are cited more reliably than names."""
    return numbered_items(asking.fill((index.reports[number].text for number in batch), room))


def _behind(point: KeyPoint, batch: Sequence[int]) -> list[int]:
    """Give the communities whose reports a point cites; one that cites none may stand on any of the batch."""
    cited = sorted({place for place in point.reports if 1 <= place <= len(batch)})
    return [batch[place - 1] for place in cited] or list(batch)


def _record(point: KeyPoint, reports: Sequence[int], index: KnowledgeIndex) -> EvidenceRecord:
    units = {unit for number in reports for unit in index.community_units(number)}
    return index.derived("point", point.description, units)
