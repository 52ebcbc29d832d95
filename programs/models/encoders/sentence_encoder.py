"""Any encoder that sentence-transformers can load: a model of the catalogue, a folder, or a name on the hub."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from programs.errors import ModelUnavailable
from programs.models.encoders.encoder import Span, Vectors
from programs.models.encoders.token_spans import token_spans
from programs.models.ledger import charge_encoder
from programs.models.network import Outbound, Unreachable, announce, is_local, reach
from programs.models.weights.catalogue import find
from programs.models.weights.fetch import fetch
from programs.models.weights.verified import sha256_of

MAX_TOKENS = 512
"""Some models say that they cut at 256, which is less than a region, though they were built for 512."""
BATCH = 32
"""Texts that the model reads at once, each padded to the longest of them."""
LIBRARY = "sentence-transformers"
UNREAD = ("onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot")
INSTEAD = (
    "give a folder with the model, let this machine reach the hub, or use encoder.engine=onnx with bge-small-en-v1.5"
)
BGE_PREFIX = "Represent this sentence for searching relevant passages: "


class SentenceEncoder:
    """An `Encoder` over sentence-transformers, which is imported when the first one is opened."""

    def __init__(self, model: str) -> None:
        entry = find(model)
        own = entry is None and Path(model).expanduser().is_dir()
        folder = fetch(model) if own else None
        self._name = model if folder is None else f"{folder.name}@{_digest(folder)}"
        self._prefix = entry.query_prefix if entry else bge_prefix(self._name)
        self._model = _load(model)
        self._model.max_seq_length = MAX_TOKENS
        self._tokenizer = self._model.tokenizer.backend_tokenizer.from_str(
            self._model.tokenizer.backend_tokenizer.to_str()
        )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True

    @property
    def name(self) -> str:
        """The name it was opened by; a folder's carries its content's hash, since cached vectors belong to a name."""
        return self._name

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._model.get_embedding_dimension())

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors; of a text longer than the model reads, the beginning counts."""
        lengths = [min(len(encoding), MAX_TOKENS) for encoding in self._tokenizer.encode_batch(list(texts))]
        charge_encoder(sum(lengths))
        order = sorted(range(len(texts)), key=lambda at: -lengths[at])
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            vectors[some] = self._model.encode(
                [texts[at] for at in some],
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors of questions, after the model's query prefix where it has one."""
        return self.encode_passages([self._prefix + text for text in texts])

    def spans(self, text: str) -> list[Span]:
        """Give the tokens' character spans, never truncated."""
        return token_spans(self._tokenizer, text)


def bge_prefix(name: str) -> str:
    """Give the prefix that English bge models were trained to see before a question; other models have none."""
    low = name.lower()
    return BGE_PREFIX if "bge-" in low and "-en" in low else ""


def find_weights(model: str) -> None:
    """See that a model's weights are here, or may be fetched."""
    if find(model) or Path(model).expanduser().is_dir():
        fetch(model)
    elif _cached(model) is None:
        _may_fetch(model)


def weights_folder(model: str) -> Path:
    """Give the folder that a model is loaded from: the catalogue's, the user's, or the hub's, fetched if need be."""
    if find(model) or Path(model).expanduser().is_dir():
        return fetch(model)
    return _cached(model) or _fetched(model)


def _load(model: str) -> Any:
    """Load a model from its folder, where nothing of it is fetched."""
    folder = weights_folder(model)
    from sentence_transformers import SentenceTransformer

    try:
        with _no_bar():
            return SentenceTransformer(str(folder), device=None, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"sentence-transformers can't load {model!r}: {str(error).splitlines()[0]}; {INSTEAD}"
        ) from error


def _cached(name: str) -> Path | None:
    """Find a model in the hub's own cache, if it is there whole, as far as can be told without asking the hub."""
    from huggingface_hub import snapshot_download

    for whole in (name, f"{LIBRARY}/{name}"):  # the library's own models need no owner
        try:
            folder = Path(snapshot_download(whole, local_files_only=True))
        except (OSError, ValueError):
            continue
        if (folder / "config.json").is_file() and any((*folder.glob("*.safetensors"), *folder.glob("*.bin"))):
            return folder
    return None


def _fetched(name: str) -> Path:
    """Fetch a model from the hub, once and without the forms of its weights that nothing here reads."""
    _may_fetch(name)
    from huggingface_hub import HfApi, snapshot_download

    whole = name if "/" in name else f"{LIBRARY}/{name}"
    try:
        safe = any(file.endswith(".safetensors") for file in HfApi().list_repo_files(whole))
        snapshot_download(whole, ignore_patterns=[*UNREAD, *(["*.bin"] if safe else [])])
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"the weights of {name!r} can't be had: {str(error).splitlines()[0]}; {INSTEAD}"
        ) from error
    folder = _cached(name)
    if folder is None:
        raise ModelUnavailable(f"{name!r} has no weights on the hub that sentence-transformers reads; {INSTEAD}")
    return folder


def _may_fetch(name: str) -> None:
    """Name the hub before it is asked, and say soon if it can't be."""
    from huggingface_hub.constants import ENDPOINT

    hub = Outbound(f"the weights of {name!r} are fetched from the hub and its file hosts:", ENDPOINT, INSTEAD)
    try:
        announce(hub)
        if not is_local(ENDPOINT):
            reach(ENDPOINT)
    except Unreachable as fault:
        raise ModelUnavailable(f"the weights of {name!r} can't be had: {fault}; {INSTEAD}") from fault


@contextmanager
def _no_bar() -> Iterator[None]:
    """Keep the library's bar over the tensors of a file off stderr: it takes no time, and a log is not its place."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _digest(folder: Path) -> str:
    """Name the content of a model folder by its weights and configuration."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in {".safetensors", ".bin", ".json"})
    lines = "\n".join(f"{path.relative_to(folder)} {sha256_of(path)}" for path in files)
    return hashlib.sha256(lines.encode()).hexdigest()[:12]
