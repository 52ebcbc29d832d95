"""A small deterministic encoder and graphs made with it."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from programs.documents.collection import Collection, Source
from programs.models.encoders.encoder import Span, Vectors
from programs.settings import EncoderSettings, NavigationSettings, Settings, TamSettings
from programs.tam.abstract import LeadAbstractor
from programs.tam.build import build_graph
from programs.tam.graph import TypedGraph


class WordEncoder:
    """Hashed bags of words; a token is a run of word characters or one other visible character."""

    name = "words"
    dimension = 48

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimension] += 1.0
            norm = float(np.linalg.norm(row))
            row /= norm or 1.0
        return rows

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def spans(self, text: str) -> list[Span]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


@pytest.fixture(scope="session")
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture(scope="session")
def collect() -> Callable[[Sequence[str]], Collection]:
    def of(texts: Sequence[str]) -> Collection:
        return Collection(sources=tuple(Source(source_id=f"d{i}", text=text) for i, text in enumerate(texts)))

    return of


@pytest.fixture(scope="session")
def tight() -> Settings:
    """Small regions and caps, so that a short text has every kind of node."""
    return Settings(
        tam=TamSettings(
            region_tokens=8, overlap_tokens=2, relation_members=3, topic_members=2, child_tokens=8, region_size=4
        ),
        encoder=EncoderSettings(relation_threshold=0.5, topic_threshold=0.4),
        navigation=NavigationSettings(candidates=8),
    )


@pytest.fixture(scope="session")
def graph_of(encoder, collect, tight) -> Callable[..., TypedGraph]:
    def of(texts: Sequence[str], settings: Settings = tight) -> TypedGraph:
        abstractor = LeadAbstractor(encoder, settings.tam.child_tokens)
        return build_graph(collect(texts), encoder, abstractor, settings)

    return of
