"""The one language-model type under DSPy: a `dspy.LM` whose engine meters every call into the ledger.

DSPy's cache and its own retries are off: a proposal is one call, and a cached call would leave no trace.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import dspy
from dspy import lm15

from programs.elapsed import elapsed
from programs.errors import ContextOverflow, ModelUnavailable, TransportFault
from programs.models.engines.engine import (
    ChatMessage,
    ChatRequest,
    Completion,
    Engine,
    GeneratedToken,
    Likelihood,
    well_formed,
)
from programs.models.ledger import Call, current_scope
from programs.models.plain_text import control_lookalikes, restored

DEFAULT_MAX_TOKENS = 512

# DSPy warns on stderr at each cut completion; the ledger has it, and a rejection says it where it matters.
logging.getLogger("dspy.clients.lm").setLevel(logging.ERROR)
FAULTS = (ContextOverflow, TransportFault, ModelUnavailable)


class RequestRefused(dspy.LMError, ModelUnavailable):  # type: ignore[misc]
    """The engine won't serve this request: an `LMError`, so that DSPy passes it on as it is, and the user's to mend."""


class MeteredEngine:
    """DSPy's engine contract over a `Engine`. The choke point: what passes here is in the ledger.

    No text that passes here is a control token or a fence to the engine, and what it quotes comes back as it was.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._lookalikes = control_lookalikes(engine.capabilities.control_tokens)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Run one call and write it down, whether it succeeds or not."""
        completion = self.run(chat_request(request))
        return lm15.Response(
            id=None,
            model=self.engine.model,
            message=lm15.Message.assistant(completion.text or " "),
            finish_reason=completion.finish_reason,
            usage=lm15.Usage(input_tokens=completion.prompt_tokens, output_tokens=completion.completion_tokens),
            logprobs=tuple(map(token_logprob, completion.tokens)) or None,
        )

    def run(self, request: ChatRequest) -> Completion:
        """Run a chat request through the meter."""
        request = replace(request, messages=self.plain(request.messages))
        prompt = json.dumps([[m.role, m.content] for m in request.messages], ensure_ascii=False)
        started = time.perf_counter()
        try:
            completion = self.engine.complete(request)
        except FAULTS as fault:
            self._record(prompt, started, error=fault)
            raise_for_dspy(fault, self.engine.model)
        self._record(prompt, started, completion)
        return replace(completion, text=restored(completion.text))

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Score a continuation through the meter."""
        context, continuation = self._lookalikes.break_up_parts(well_formed(context), well_formed(continuation))
        started = time.perf_counter()
        try:
            result = self.engine.likelihood(context, continuation)
        except FAULTS as fault:
            self._record(context + continuation, started, error=fault)
            raise_for_dspy(fault, self.engine.model)
        spent = Completion(
            "", result.prompt_tokens, result.completion_tokens, "stop", result.transport_retries, result.replayed
        )
        self._record(context + continuation, started, spent)
        return result

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count what the engine would be sent for these messages."""
        return self.engine.count_tokens(self.plain(messages))

    def plain(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """Give messages whose contents are text and nothing else to the engine's tokenizer."""
        return tuple(
            replace(message, content=self._lookalikes.break_up(well_formed(message.content))) for message in messages
        )

    def stream(self, request: lm15.Request) -> Iterator[Any]:
        """Serve DSPy's streaming door with one whole completion."""
        events: Iterator[Any] = lm15.response_to_events(self.complete(request))
        return events

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> MeteredEngine:
        return self

    def _record(
        self, prompt: str, started: float, completion: Completion | None = None, error: Exception | None = None
    ) -> None:
        scope = current_scope()
        replayed = completion.replayed if completion else 0.0
        scope.ledger.replayed[scope.phase] += replayed
        scope.ledger.calls.append(
            Call(
                query_id=scope.ledger.query_id,
                role=scope.role,
                phase=scope.phase,
                model=self.engine.model,
                parameters=self.engine.parameters,
                prompt_tokens=completion.prompt_tokens if completion else 0,
                completion_tokens=completion.completion_tokens if completion else 0,
                seconds=elapsed(started) + replayed,
                finish_reason=completion.finish_reason if completion else "error",
                truncated=completion is not None and completion.finish_reason == "length",
                prompt_hash=hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16],
                transport_retries=completion.transport_retries if completion else getattr(error, "retries", 0),
                error=well_formed(f"{type(error).__name__}: {error}") if error else None,
            )
        )


class LanguageModel(dspy.LM):  # type: ignore[misc]
    """A model that roles are bound to, call by call."""

    def __init__(self, engine: Engine, max_tokens: int = DEFAULT_MAX_TOKENS) -> None:
        self.metered = MeteredEngine(engine)
        super().__init__(
            model=engine.model,
            engine=self.metered,
            cache=False,
            num_retries=0,
            temperature=0.0,
            max_tokens=max_tokens,
        )

    @property
    def engine(self) -> Engine:
        """The engine underneath."""
        return self.metered.engine

    @property
    def supports_response_schema(self) -> bool:
        """Whether completions can be kept to a JSON schema."""
        return self.engine.capabilities.schema

    @property
    def supported_params(self) -> set[str]:
        """The request parameters that reach the engine."""
        schema = {"response_format"} if self.engine.capabilities.schema else set()
        tokens = {"logprobs", "top_logprobs"} if self.engine.capabilities.token_logprobs else set()
        return {"temperature", "max_tokens"} | schema | tokens

    def likelihood(self, context: str, continuation: str) -> float:
        """Give the mean log-probability of a continuation, metered like any call."""
        return self.metered.likelihood(context, continuation).mean_logprob

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count a chat prompt as this model would be asked it."""
        return self.metered.count_tokens(messages)

    def __deepcopy__(self, memo: dict[int, Any]) -> LanguageModel:
        return self


def chat_request(request: lm15.Request) -> ChatRequest:
    """Translate DSPy's canonical request."""
    messages = []
    if request.system:
        system = request.system if isinstance(request.system, str) else "".join(p.text for p in request.system)
        messages.append(ChatMessage("system", system))
    messages.extend(
        ChatMessage("assistant" if m.role == "assistant" else "user", m.text or "") for m in request.messages
    )
    config = request.config
    return ChatRequest(
        messages=tuple(messages),
        max_tokens=config.max_tokens or DEFAULT_MAX_TOKENS,
        temperature=config.temperature or 0.0,
        schema=json_schema(config.response_format),
        alternatives=config.logprobs or 0,
    )


def token_logprob(token: GeneratedToken) -> lm15.TokenLogprob:
    """Hand a token to DSPy, which puts it into a prediction whose call asked for `logprobs`."""
    likely = tuple(lm15.TopLogprob(one.text, one.logprob) for one in token.alternatives)
    return lm15.TokenLogprob(token.text, token.logprob, top=likely)


def json_schema(response_format: dict[str, Any] | None) -> dict[str, Any] | None:
    """Take the schema out of an OpenAI-shaped response format."""
    if not response_format:
        return None
    if response_format.get("type") == "json_object":
        return {"type": "object"}
    inner = response_format.get("json_schema", response_format)
    schema: dict[str, Any] = inner.get("schema", inner)
    return schema


def raise_for_dspy(fault: ContextOverflow | TransportFault | ModelUnavailable, model: str) -> NoReturn:
    """Raise the error of DSPy's own family, so that none of its layers takes it for a bad completion."""
    said = well_formed(str(fault))
    if isinstance(fault, ContextOverflow):
        raise dspy.ContextWindowExceededError(message=said, model=model) from fault
    if isinstance(fault, TransportFault):
        raise dspy.LMTransportError(said, model=model) from fault
    raise RequestRefused(f"[{model}] {said}") from fault
