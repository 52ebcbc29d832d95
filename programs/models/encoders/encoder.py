"""What an encoder and a cross-encoder must offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Span = tuple[int, int]


class Encoder(Protocol):
    """Texts to unit vectors, and texts to tokens with exact character offsets."""

    @property
    def name(self) -> str:
        """The encoder's name; thresholds and cached vectors belong to it."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Give one unit vector a text, in order. An empty sequence gives an array of shape (0, dimension)."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors of questions, with the encoder's query prefix where it has one."""

    def spans(self, text: str) -> list[Span]:
        """Give the character span [start, end) of each token, in order, without special tokens and never truncated."""


class CrossEncoder(Protocol):
    """Pairs of texts to relevance."""

    @property
    def name(self) -> str:
        """The cross-encoder's name."""

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Give a relevance in [0, 1] a text, comparable between calls."""

    def tokens(self, query: str, text: str) -> int:
        """Count the tokens that scoring a pair reads."""
