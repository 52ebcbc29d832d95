"""Encoders that remember: a text is encoded once, whatever process, query or run asks for it again.

Keyed by content, so nothing ever needs to be invalidated. Each result is kept with the tokens and the seconds that it
took, so that a query is charged alike whether it was computed or remembered, and no method looks faster than another
because it ran after it.
"""

from __future__ import annotations

import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from programs.content_key import content_bytes
from programs.elapsed import elapsed
from programs.models.cache.content_store import ContentStore
from programs.models.encoders.encoder import CrossEncoder, Encoder, Span, Vectors
from programs.models.ledger import charge_encoder, uncharged
from programs.models.weights.verified import cache_folder
from programs.progress import report

IN_MEMORY = 20_000
"""Results kept in memory; 384 dimensions make 30 MB of them."""
SPANS_IN_MEMORY = 500_000
"""Tokens, over all texts, whose spans are kept in memory."""
KEEP_EVERY = 256
"""Results computed between two writes, so that a killed process loses little. Each is the work of some seconds."""

HEADER = struct.Struct("<If")
"""What stands before each result: the tokens that were read for it, and the seconds that it took."""

FILE_NAME = "vectors.sqlite"


class ContentCache:
    """Memory over disk: keys of a text to the bytes of its result."""

    def __init__(self, path: Path | None, in_memory: int) -> None:
        self._store = ContentStore(path or cache_folder() / FILE_NAME)
        self._memory: LRUCache[bytes, bytes] = LRUCache(maxsize=in_memory)
        self._guard = threading.Lock()

    def resolve(
        self, keys: Sequence[bytes], texts: Sequence[str], size: int, compute: Callable[[list[str]], list[bytes]]
    ) -> Iterator[bytes]:
        """Give each key's bytes; a text that is nowhere is computed once, however often it occurs."""
        known = self._known(list(dict.fromkeys(keys)), HEADER.size + size)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        results = self._computed(missing, compute)
        results.update(known)
        for key in keys:
            tokens, seconds = HEADER.unpack_from(results[key])
            charge_encoder(tokens, key, spared=0.0 if key in missing else seconds)
        return _handed_out(keys, results)

    def _computed(self, missing: dict[bytes, str], compute: Callable[[list[str]], list[bytes]]) -> dict[bytes, bytes]:
        """Compute, longest first: engines pad the texts of a batch to its longest, so like should be beside like."""
        results: dict[bytes, bytes] = {}
        order = sorted(missing, key=lambda key: -len(missing[key]))
        for at in range(0, len(order), KEEP_EVERY):
            if len(order) > KEEP_EVERY:
                report("encoding", at, len(order))
            some = order[at : at + KEEP_EVERY]
            fresh = dict(zip(some, compute([missing[key] for key in some]), strict=True))
            self._store.put(fresh)
            self._remember(fresh)
            results.update(fresh)
        if len(order) > KEEP_EVERY:
            report("encoding", len(order), len(order))
        return results

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _known(self, keys: list[bytes], size: int) -> dict[bytes, bytes]:
        with self._guard:
            known = {key: self._memory[key] for key in keys if key in self._memory}
        stored = self._store.get([key for key in keys if key not in known])
        whole = {key: value for key, value in stored.items() if len(value) == size}
        self._remember(whole)
        return known | whole

    def _remember(self, entries: dict[bytes, bytes]) -> None:
        with self._guard:
            self._memory.update(entries)


def _handed_out(keys: Sequence[bytes], results: dict[bytes, bytes]) -> Iterator[bytes]:
    """Give the results in turn, and let go of each with its last use: those of a large text are not held twice."""
    uses = Counter(keys)
    for key in keys:
        uses[key] -= 1
        yield (results[key] if uses[key] else results.pop(key))[HEADER.size :]


class CachedEncoder:
    """An `Encoder` that asks another one only for what it has not seen."""

    def __init__(self, inner: Encoder, path: Path | None = None, in_memory: int = IN_MEMORY) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimension = inner.dimension
        self._cache = ContentCache(path, in_memory)
        self._spans: LRUCache[str, npt.NDArray[np.int32]] = LRUCache(
            SPANS_IN_MEMORY, getsizeof=lambda spans: len(spans) + 1
        )
        self._guard = threading.Lock()

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors, computed or remembered."""
        return self._encode("passage", texts, self.inner.encode_passages)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Give unit vectors of questions, computed or remembered."""
        return self._encode("query", texts, self.inner.encode_queries)

    def spans(self, text: str) -> list[Span]:
        """Give the tokens' spans, computed or remembered."""
        with self._guard:
            known = self._spans.get(text)
        if known is not None:
            return list(zip(*known.T.tolist(), strict=True))
        spans = self.inner.spans(text)
        if len(spans) < SPANS_IN_MEMORY:
            with self._guard:
                self._spans[text] = np.array(spans, np.int32).reshape(-1, 2)  # a tenth of what tuples take
        return spans

    def close(self) -> None:
        """Close the file of vectors."""
        self._cache.close()

    def _encode(self, mode: str, texts: Sequence[str], encode: Callable[[list[str]], Vectors]) -> Vectors:
        def compute(some: list[str]) -> list[bytes]:
            started = time.perf_counter()
            with uncharged():
                vectors = encode(some)
            each = elapsed(started) / len(some)
            counts = [len(self.spans(text)) for text in some]
            rows = [np.asarray(vector, dtype="<f4").tobytes() for vector in vectors]
            return [HEADER.pack(count, each) + row for count, row in zip(counts, rows, strict=True)]

        keys = [content_bytes(self.name, mode, text) for text in texts]
        vectors = np.empty((len(keys), self.dimension), np.float32)
        for row, blob in zip(vectors, self._cache.resolve(keys, texts, 4 * self.dimension, compute), strict=True):
            row[:] = np.frombuffer(blob, dtype="<f4")
        return vectors


class CachedCrossEncoder:
    """A `CrossEncoder` that asks another one only for pairs that it has not seen."""

    def __init__(self, inner: CrossEncoder, path: Path | None = None, in_memory: int = IN_MEMORY) -> None:
        self.inner = inner
        self.name = inner.name
        self._cache = ContentCache(path, in_memory)

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Give relevances, computed or remembered."""

        def compute(some: list[str]) -> list[bytes]:
            started = time.perf_counter()
            with uncharged():
                scores = self.inner.score(query, some)
            each = elapsed(started) / len(some)
            counts = [self.inner.tokens(query, text) for text in some]
            rows = [np.float64(score).astype("<f8").tobytes() for score in scores]
            return [HEADER.pack(count, each) + row for count, row in zip(counts, rows, strict=True)]

        keys = [content_bytes(self.name, "score", query, text) for text in texts]
        blobs = self._cache.resolve(keys, texts, 8, compute)
        return np.frombuffer(b"".join(blobs), dtype="<f8").astype(np.float64)

    def tokens(self, query: str, text: str) -> int:
        """Count the tokens that scoring a pair reads."""
        return self.inner.tokens(query, text)

    def close(self) -> None:
        """Close the file of scores."""
        self._cache.close()
