"""Extraction: what each text unit says of entities and relationships, and what a second look adds."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.settings import GraphragSettings
from signatures.baselines.graphrag import ExtractGraph, FindMissed, FoundGraph

FOUND = 400
"""Tokens of what was already found that a gleaning is shown at most."""


class Extraction(dspy.Module):  # type: ignore[misc]
    """One call a text unit, and one more for each gleaning."""

    def __init__(self) -> None:
        super().__init__()
        self.first = dspy.Predict(ExtractGraph)
        self.missed = dspy.Predict(FindMissed)

    def find(self, texts: Sequence[str], asking: Asking, settings: GraphragSettings) -> list[list[FoundGraph]]:
        """Give what the calls about each text unit found. One whose first completion is unreadable has nothing."""
        tokens, types = settings.extraction_tokens, ", ".join(settings.entity_types)
        room = asking.room(settings.chunk_tokens, tokens)
        inputs = [{"types": types, "text": asking.head(text, room)} for text in texts]
        found: list[list[FoundGraph]] = [
            [] if answer is None else [answer.graph] for answer in asking.all(self.first, "extraction", tokens, inputs)
        ]
        waiting = [unit for unit, graphs in enumerate(found) if graphs]
        for _ in range(settings.gleanings):
            waiting = self._glean(found, waiting, inputs, asking, tokens)
        return found

    def _glean(
        self,
        found: list[list[FoundGraph]],
        waiting: list[int],
        inputs: Sequence[dict[str, str]],
        asking: Asking,
        tokens: int,
    ) -> list[int]:
        """Look once more, and give the units where that found something: the rest have been read to the end.

        The original asks the model whether anything is left. An empty answer says so without another call.
        """
        many = []
        for unit in waiting:
            text = inputs[unit]["text"]
            left = asking.room(asking.tokens(text) + FOUND, tokens) - asking.tokens(text)
            many.append({**inputs[unit], "found": "\n".join(asking.fill(names(found[unit]), max(1, left)))})
        answers = asking.all(self.missed, "gleaning", tokens, many)
        fruitful = []
        for unit, answer in zip(waiting, answers, strict=True):
            if answer is not None and (answer.graph.entities or answer.graph.relationships):
                found[unit].append(answer.graph)
                fruitful.append(unit)
        return fruitful


def names(graphs: Sequence[FoundGraph]) -> list[str]:
    """List what was found by name, entities first. Their descriptions would cost more than the text itself."""
    entities = [entity.name for graph in graphs for entity in graph.entities]
    pairs = [f"{pair.source} is related to {pair.target}" for graph in graphs for pair in graph.relationships]
    return list(dict.fromkeys([*entities, *pairs])) or ["nothing"]
