"""Any `dspy.LM` as an engine: what a user of DSPy already has configured answers, and every call is metered here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import dspy

from programs.errors import ContextOverflow, ModelUnavailable, TransportFault
from programs.models.engines.engine import Capabilities, ChatMessage, ChatRequest, Completion, Likelihood
from programs.models.engines.server import SENT
from programs.models.engines.wire import chat_body, message_dicts
from programs.models.network import Outbound

TRANSPORT = (dspy.LMTransportError, dspy.LMTimeoutError, dspy.LMServerError, dspy.LMRateLimitError)
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class DspyEngine:
    """A model that was handed in. It stays the caller's: closing this leaves it alone."""

    lm: dspy.BaseLM
    context: int
    parameters: int | None = None

    @property
    def model(self) -> str:
        return str(self.lm.model)

    @property
    def capabilities(self) -> Capabilities:
        """Schemas count as kept: where the model can't be held to one, the contract judges what comes back."""
        return Capabilities(schema=True, prompt_logprobs=False, context_length=self.context)

    def complete(self, request: ChatRequest) -> Completion:
        """Ask once, past DSPy's cache, which would leave no trace of what a call takes."""
        options = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        if isinstance(self.lm, dspy.LM):
            options["cache"] = False
        if request.schema is not None and self._takes_schemas:
            options["response_format"] = chat_body(self.model, request)["response_format"]
        try:
            return _read(self.lm.forward(messages=message_dicts(request.messages), **options), request)
        except dspy.LMError as error:
            _raise(error)

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        raise ModelUnavailable(f"{self.model!r} was handed in as a dspy.LM, which gives no prompt log-probabilities")

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """An estimate by characters: a `dspy.LM` has no tokenizer to ask. Ledgers have the model's own counts."""
        return sum(len(message.content) // CHARACTERS_PER_TOKEN + 1 for message in messages)

    def close(self) -> None:
        pass

    @property
    def _takes_schemas(self) -> bool:
        return bool(self.lm.supports_response_schema) or "response_format" in self.lm.supported_params


def outbound(part: str, lm: dspy.BaseLM) -> Outbound:
    """Say what goes to a model that was handed in. Where it does not say its address, only its provider is known."""
    address = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
    return Outbound(
        told=f"{part}: {SENT[part]} go to",
        address=address if isinstance(address, str) else f"wherever {type(lm).__name__} {lm.model!r} sends them",
        instead=f"hand in a {part} whose api_base is on this machine, or have it in the process ({part}.engine=llama)",
    )


def _read(response: Any, request: ChatRequest) -> Completion:
    choice = _part(response, "choices")[0]
    usage = _part(response, "usage") or {}
    text = _part(_part(choice, "message"), "content") or ""
    asked = sum(len(message.content) for message in request.messages)
    return Completion(
        text=text,
        prompt_tokens=_tokens(_part(usage, "prompt_tokens"), asked),
        completion_tokens=_tokens(_part(usage, "completion_tokens"), len(text)),
        finish_reason="length" if _part(choice, "finish_reason") == "length" else "stop",
    )


def _tokens(counted: Any, characters: int) -> int:
    """A model of the user's own may count nothing; then its text is measured."""
    return round(characters / CHARACTERS_PER_TOKEN) if counted is None else int(counted)


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _raise(error: dspy.LMError) -> NoReturn:
    if isinstance(error, dspy.ContextWindowExceededError):
        raise ContextOverflow(str(error)) from error
    if isinstance(error, TRANSPORT):
        raise TransportFault(str(error)) from error
    raise ModelUnavailable(str(error)) from error
