"""Descriptions: what several text units say of the same thing, combined into one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dspy

from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.knowledge import Entity, EntityGraph, Relationship
from programs.methods.graphrag.merge import Merged
from programs.methods.graphrag.settings import GraphragSettings
from signatures.baselines.graphrag import SummariseDescriptions


@dataclass
class Subject:
    """Something described, and the descriptions that are still to be combined."""

    name: str
    descriptions: list[str]


class Descriptions(dspy.Module):  # type: ignore[misc]
    """One call for what has several descriptions, and more where they don't fit one."""

    def __init__(self) -> None:
        super().__init__()
        self.summarise = dspy.Predict(SummariseDescriptions)

    def describe(self, merged: Merged, asking: Asking, settings: GraphragSettings) -> EntityGraph:
        """Give every entity and relationship its one description."""
        entities = [Subject(entity.title, list(entity.descriptions)) for entity in merged.entities]
        pairs = [Subject(f"{p.source} – {p.target}", list(p.descriptions)) for p in merged.relationships]
        self._combine([*entities, *pairs], asking, settings)
        place = {entity.title: number for number, entity in enumerate(merged.entities)}
        return EntityGraph(
            tuple(
                Entity(entity.title, entity.type, _only(subject), tuple(entity.units))
                for entity, subject in zip(merged.entities, entities, strict=True)
            ),
            tuple(
                Relationship(place[p.source], place[p.target], _only(subject), p.weight, tuple(p.units))
                for p, subject in zip(merged.relationships, pairs, strict=True)
            ),
        )

    def _combine(self, subjects: Sequence[Subject], asking: Asking, settings: GraphragSettings) -> None:
        """Fold descriptions until each subject has one; what a call can't hold waits for the next round."""
        tokens = settings.description_tokens
        room = asking.room(settings.description_input_tokens, tokens)
        while waiting := [subject for subject in subjects if len(subject.descriptions) > 1]:
            batches = [_batch(subject, asking, room) for subject in waiting]
            many = [
                {"subject": subject.name, "descriptions": "\n".join(f"- {text}" for text in batch)}
                for subject, batch in zip(waiting, batches, strict=True)
            ]
            answers = asking.all(self.summarise, "descriptions", tokens, many)
            for subject, batch, answer in zip(waiting, batches, answers, strict=True):
                said = "" if answer is None else " ".join(answer.summary.split())
                combined = said or asking.head(" ".join(batch), tokens)
                subject.descriptions[: len(batch)] = [combined]


def _batch(subject: Subject, asking: Asking, room: int) -> list[str]:
    """Take as many descriptions as fit, and never fewer than two: a round must leave fewer than it found."""
    fitting = asking.fill(subject.descriptions, room)
    if len(fitting) > 1:
        return fitting
    return [asking.head(text, max(1, room // 2)) for text in subject.descriptions[:2]]


def _only(subject: Subject) -> str:
    return subject.descriptions[0] if subject.descriptions else ""
