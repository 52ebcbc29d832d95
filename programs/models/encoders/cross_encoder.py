"""The cross-encoder of the default preset: query and text read together, one relevance out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from programs.models.encoders.onnx_encoder import OnnxModel, catalogue_entry, open_tokenizer
from programs.models.weights.fetch import fetch

QUERY_TOKENS = 384
"""A query longer than this is cut, to leave room for the text; otherwise only the text is cut."""


class OnnxCrossEncoder:
    """A `CrossEncoder` over a model of the catalogue. A pair's score does not depend on the other pairs asked for."""

    def __init__(self, model: str = "ms-marco-minilm-l-12-v2", threads: int | None = None) -> None:
        entry = catalogue_entry(model, "cross-encoder")
        self.name = entry.name
        folder = fetch(model)
        self._model = OnnxModel(folder / "model.onnx", threads)
        self._whole = open_tokenizer(folder / "tokenizer.json")
        self._pairs = open_tokenizer(folder / "tokenizer.json")
        self._pairs.enable_truncation(entry.context, strategy="only_second")

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Give the sigmoid of the model's logit for each text."""
        short = self._shortened(query)
        encodings = self._pairs.encode_batch([(short, text) for text in texts]) if texts else []
        logits = np.array([logit[0] for logit in self._model.run(encodings)], dtype=np.float64)
        scores: npt.NDArray[np.float64] = 1.0 / (1.0 + np.exp(-logits))
        return scores

    def tokens(self, query: str, text: str) -> int:
        """Count the tokens that scoring a pair reads."""
        return len(self._pairs.encode(self._shortened(query), text))

    def _shortened(self, query: str) -> str:
        offsets = self._whole.encode(query, add_special_tokens=False).offsets
        return query if len(offsets) <= QUERY_TOKENS else query[: offsets[QUERY_TOKENS - 1][1]]
