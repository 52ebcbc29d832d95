"""A small world for tests of the contract and the controller: real graph, real memory, fast exact encoders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dspy

from programs.contract import Contract
from programs.documents.collection import Collection, Source
from programs.memory.pool import Pool, QueryMemory
from programs.methods.registry import specs
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger
from programs.roles.view import Tools, View
from programs.settings import Settings, load_settings, settings_from
from programs.state import OPERATORS, Role
from programs.tam.abstract import LeadAbstractor
from programs.tam.build import build_graph
from programs.tam.graph import TypedGraph
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine

TOPICS = (
    "harbour ferry pier tide",
    "observatory lens dome star",
    "orchestra cello hall score",
    "orchard graft pear frost",
)


def make_collection(sources: int = 8, words: int = 60) -> Collection:
    return Collection(
        sources=tuple(
            Source(
                source_id=f"note-{i}.md",
                text=f"Note {i}.\r\n"
                + " ".join(f"{TOPICS[i % 4]} item{i}x{j}" for j in range(words // 5))
                + " ünïcödé ✓.",
            )
            for i in range(sources)
        )
    )


def collection_of(*texts: str) -> Collection:
    """Name the sources by their places: s0, s1 and so on."""
    return Collection(sources=tuple(Source(source_id=f"s{i}", text=text) for i, text in enumerate(texts)))


def small_settings(**branches: dict[str, Any]) -> Settings:
    base = load_settings("tiny").model_dump()
    base |= {one.branch: one.settings().model_dump() for one in specs().values() if one.settings}  # as published
    base["encoder"] |= {"engine": "hashed", "relation_threshold": 0.6, "topic_threshold": 0.4}
    base["cross_encoder"] |= {"engine": "overlap"}
    base["tam"] |= {"region_tokens": 16, "overlap_tokens": 4, "abstraction": "lead"}
    base["auxiliary"] |= {"engine": "scripted"}
    base["reader"] |= {"engine": "scripted"}
    for name, values in branches.items():
        base[name] = {**base[name], **values}
    return settings_from(base)


@dataclass
class World:
    """One query's environment."""

    settings: Settings
    collection: Collection
    graph: TypedGraph
    encoder: HashedEncoder
    pool: Pool
    model: LanguageModel

    def query(self, query_id: str = "q", position: int = 0, text: str = "where is the lens?") -> QueryMemory:
        return self.pool.open(query_id, position, text, self.collection, self.encoder.encode_queries([text])[0])

    def contract(self, memory: QueryMemory, max_traces: int = 4) -> Contract:
        return Contract(self.graph, self.collection.texts, self.settings.limits(max_traces), memory.readable)

    def tools(self, memory: QueryMemory, ledger: Ledger) -> Tools:
        return Tools(
            settings=self.settings,
            reader=self.model,
            auxiliary=self.model,
            encoder=self.encoder,
            cross_encoder=OverlapCrossEncoder(),
            graph=self.graph,
            ledger=ledger,
            memories={role: memory.handle(role) for role in OPERATORS},
        )


def make_world(settings: Settings | None = None, collection: Collection | None = None, script: Any = None) -> World:
    settings = settings or small_settings()
    collection = collection or make_collection()
    encoder = HashedEncoder()
    graph = build_graph(collection, encoder, LeadAbstractor(encoder, settings.tam.child_tokens), settings)
    model = LanguageModel(ScriptedEngine(script or (lambda request: "an answer")))
    return World(settings, collection, graph, encoder, Pool("test", None, settings.memory), model)


class Says(dspy.Module):
    """A role that proposes what it is told to, turn by turn."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__()
        self._values = list(values)

    def forward(self, view: View) -> dspy.Prediction:
        value = self._values.pop(0)
        return dspy.Prediction(value=value(view) if callable(value) else value)


@dataclass
class Heard:
    """What the reader was given."""

    calls: list[tuple[str, Any]] = field(default_factory=list)


class CountingReader(dspy.Module):
    """A reader that answers at once and remembers each call."""

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self._heard = [heard]

    def forward(self, question: str, evidence: Any, **rest: Any) -> dspy.Prediction:
        self._heard[0].calls.append((question, evidence))
        return dspy.Prediction(answer="an answer")


ROLE_ORDER = (Role.PLANNER, Role.NAVIGATOR, Role.RETRIEVER, Role.VERIFIER)
