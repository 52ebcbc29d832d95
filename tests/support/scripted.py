"""Models without weights, for tests that need exactness and speed: every answer is known before it is asked for."""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from programs.models.encoders.encoder import Span, Vectors
from programs.models.engines.engine import (
    Capabilities,
    ChatMessage,
    ChatRequest,
    Completion,
    GeneratedToken,
    Likelihood,
)
from programs.models.engines.wire import check_room
from programs.models.ledger import charge_encoder
from programs.models.runtime import CROSS_ENCODERS, ENCODERS

Script = Callable[[ChatRequest], str] | Mapping[str, str | Sequence[str]]
TOKEN = r"\s*\w{1,6}|\s*[^\w\s]|\s+"
WORD = re.compile(r"\w+")
LONGEST_SPAN = 16


class ScriptedEngine:
    """An engine that says what a script says.

    The script is a function of the request, or a mapping from the opening of the first message (the role's
    instruction) to its completion, or to completions given in turn, of which the last repeats.
    A schema is not enforced: tests may have any text come back.
    """

    def __init__(
        self,
        script: Script,
        model: str = "scripted",
        *,
        parameters: int | None = None,
        context: int = 8192,
        latency: float = 0.0,
    ) -> None:
        self.requests: list[ChatRequest] = []
        """Every request that was answered, in order: tests read prompts here."""
        self._script = script
        self.model = model
        self.parameters = parameters
        self._latency = latency
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._tokenizer = word_tokenizer()
        self.capabilities = Capabilities(schema=True, prompt_logprobs=True, context_length=context, token_logprobs=True)
        """Everything, so that no path is closed to a test."""

    def complete(self, request: ChatRequest) -> Completion:
        """Answer from the script, cut at `max_tokens` like any model's answer."""
        prompt_tokens = self.count_tokens(request.messages)
        check_room(prompt_tokens, request.max_tokens, self.capabilities.context_length)
        time.sleep(self._latency)
        text = self._answer(request)
        spans = self.tokens(text)[: request.max_tokens]
        cut = bool(spans) and spans[-1][1] < len(text)
        return Completion(
            text=text[: spans[-1][1]] if cut else text,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(spans),
            finish_reason="length" if cut else "stop",
            tokens=tuple(self.told(text[s:e], request.alternatives) for s, e in spans) if request.alternatives else (),
        )

    def told(self, token: str, alternatives: int) -> GeneratedToken:
        """Find each token as likely as not, and the rest of the probability on what nobody would say."""
        others = [f"qz{number}" for number in range(1, alternatives)]
        each = math.log(0.5 / max(1, len(others)))
        likely = [GeneratedToken(token, math.log(0.5)), *(GeneratedToken(other, each) for other in others)]
        return GeneratedToken(token, math.log(0.5), tuple(likely))

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Find words likely that the context has."""
        known = set(words(context))
        scored = [math.log(0.5 if word in known else 0.01) for word in words(continuation)]
        mean = sum(scored) / len(scored) if scored else math.log(0.01)
        return Likelihood(mean, len(self.tokens(context + continuation)))

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count the rendered chat."""
        return len(self.tokens(render(messages)))

    def tokens(self, text: str) -> list[Span]:
        """Give the spans of a text's tokens; together they are the whole text."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def close(self) -> None:
        """Hold nothing."""

    def _answer(self, request: ChatRequest) -> str:
        with self._lock:
            self.requests.append(request)
            if callable(self._script):
                return self._script(request)
            opening = matching_opening(self._script, request.messages[0].content)
            turn = self._turns[opening]
            self._turns[opening] += 1
        said = self._script[opening]
        return said if isinstance(said, str) else said[min(turn, len(said) - 1)]


def matching_opening(script: Mapping[str, str | Sequence[str]], text: str) -> str:
    """Find the longest opening that a text has."""
    fitting = [opening for opening in script if text.startswith(opening)]
    if not fitting:
        raise LookupError(f"the script has no completion for a prompt that opens {text[:80]!r}")
    return max(fitting, key=len)


def render(messages: tuple[ChatMessage, ...]) -> str:
    """Write a chat as one text, as a model's template would."""
    return "".join(f"<{message.role}>{message.content}\n" for message in messages) + "<assistant>"


def word_tokenizer() -> Tokenizer:
    """Build a tokenizer of short word pieces that needs no file."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex(TOKEN), "isolated")
    return tokenizer


def words(text: str) -> list[str]:
    """Give the lower-cased words of a text."""
    return WORD.findall(text.lower())


class HashedEncoder:
    """Bags of words hashed into a few dimensions: texts that share words are near each other."""

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """The name, with the dimension that its vectors depend on."""
        return f"hashed-{self._dimension}"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Give one unit vector a text; a text without words has the first axis."""
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                vectors[row, stable_hash(word) % self._dimension] += 1
            if not vectors[row].any():
                vectors[row, 0] = 1
        charge_encoder(sum(len(self.spans(text)) for text in texts))
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Encode questions as passages are."""
        return self.encode_passages(texts)

    def spans(self, text: str) -> list[Span]:
        """Give runs without space, split where they are longer than a token may be."""
        return [
            (start, min(start + LONGEST_SPAN, run.end()))
            for run in re.finditer(r"\S+", text)
            for start in range(run.start(), run.end(), LONGEST_SPAN)
        ]


class OverlapCrossEncoder:
    """Relevance as the fraction of the query's different words that a text has."""

    @property
    def name(self) -> str:
        """The name."""
        return "overlap"

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score each text by itself."""
        wanted = set(words(query))
        charge_encoder(sum(self.tokens(query, text) for text in texts))
        shares = [len(wanted & set(words(text))) / len(wanted) if wanted else 0.0 for text in texts]
        return np.asarray(shares, dtype=np.float64)

    def tokens(self, query: str, text: str) -> int:
        """Count the words of a pair."""
        return len(words(query)) + len(words(text))


def stable_hash(word: str) -> int:
    """Hash a word alike in every process, which the built-in does not."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def register() -> None:
    """Let settings name the doubles, as a package that brings an encoder would."""
    ENCODERS.register("hashed")(lambda settings: HashedEncoder())
    CROSS_ENCODERS.register("overlap")(lambda settings: OverlapCrossEncoder())
