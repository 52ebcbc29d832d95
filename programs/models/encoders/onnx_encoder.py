"""The encoder of the default preset: an int8 ONNX file in the process, no torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from programs.errors import InputError
from programs.models.encoders.encoder import Span, Vectors
from programs.models.encoders.token_spans import token_spans
from programs.models.ledger import charge_encoder
from programs.models.weights.catalogue import CatalogueModel, find
from programs.models.weights.fetch import fetch


class OnnxModel:
    """An ONNX file that reads one sequence at a time, several at once on as many threads as there are cores.

    Never a batch: int8 models quantise their activations with one scale for the whole tensor, so that in a batch the
    result for a text would depend on its companions (cosines down to 0.994 were measured, with and without padding).
    Alone, it is a function of the text, whatever the number of threads, and can be cached by content.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._threads = threads or os.cpu_count() or 1

    def run(self, encodings: Sequence[Encoding]) -> list[npt.NDArray[np.float32]]:
        """Give the first output for each sequence, in order, and charge the tokens to whoever is asking."""
        charge_encoder(sum(len(encoding) for encoding in encodings))
        if len(encodings) < 2 or self._threads == 1:
            return [self._run_one(encoding) for encoding in encodings]
        order = sorted(range(len(encodings)), key=lambda i: -len(encodings[i]))
        with ThreadPoolExecutor(self._threads) as pool:
            results = dict(zip(order, pool.map(self._run_one, [encodings[i] for i in order]), strict=True))
        return [results[i] for i in range(len(encodings))]

    def _run_one(self, encoding: Encoding) -> npt.NDArray[np.float32]:
        feeds = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        arrays = {name: np.array([values], dtype=np.int64) for name, values in feeds.items() if name in self._inputs}
        output: Any = self._session.run(None, arrays)[0]
        return np.asarray(output[0], dtype=np.float32)


class OnnxEncoder:
    """An `Encoder` over a model of the catalogue."""

    def __init__(self, model: str = "bge-small-en-v1.5", threads: int | None = None) -> None:
        self._entry = catalogue_entry(model, "encoder")
        folder = fetch(model)
        self._model = OnnxModel(folder / "model.onnx", threads)
        self._whole = open_tokenizer(folder / "tokenizer.json")
        self._cut = open_tokenizer(folder / "tokenizer.json")
        self._cut.enable_truncation(self._entry.context)

    @property
    def name(self) -> str:
        """The catalogue's name."""
        return self._entry.name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._entry.dimension or 0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors; of a text longer than the model reads, the beginning counts."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        hidden = self._model.run(self._cut.encode_batch(list(texts)))
        pooled = np.stack([self._pool(states) for states in hidden])
        unit: Vectors = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors of questions, after the model's query prefix."""
        return self.encode_passages([self._entry.query_prefix + text for text in texts])

    def spans(self, text: str) -> list[Span]:
        """Give the tokens' character spans, never truncated."""
        return token_spans(self._whole, text)

    def _pool(self, states: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        pooled: npt.NDArray[np.float32] = states[0] if self._entry.pooling == "cls" else states.mean(axis=0)
        return pooled


def catalogue_entry(model: str, kind: str) -> CatalogueModel:
    """Find a model of a kind, or say which engine would take what was named."""
    entry = find(model)
    if entry is None or entry.kind != kind:
        raise InputError(
            f"{model!r} is not an ONNX {kind} of the catalogue; for other encoders, on the hub or in a folder, "
            "set encoder.engine=sentence-transformers"
        )
    return entry


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a tokenizer that neither cuts nor pads, and to which '[SEP]' in a document is five plain characters."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer
