"""A model behind an OpenAI-compatible endpoint: vLLM first, and any other for what it offers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from programs.errors import ContextOverflow, ModelUnavailable, TransportFault
from programs.models.engines.engine import Capabilities, ChatMessage, ChatRequest, Completion, Likelihood
from programs.models.engines.transport import UNREADABLE, Transport
from programs.models.engines.wire import (
    alternatives_probe,
    chat_body,
    check_room,
    echo_body,
    keeps_to_schema,
    message_dicts,
    read_completion,
    read_echo,
    schema_probe,
    tells_alternatives,
)
from programs.models.network import Outbound, shown

SENT = {
    "reader": "questions and evidence",
    "auxiliary": "questions, plans and passages of the documents",
    "proposer": "instructions and development questions",
}
"""What each model is sent, as a person should know it."""


class ServerEngine:
    """One model of one endpoint. What the endpoint can do is asked of it once, when it is opened."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        context: int = 4096,
        parameters: int | None = None,
        timeout: float = 120.0,
        retries: int = 3,
        part: str = "model",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        goes = outbound(part, base_url)
        self.model = model
        """The name that the server knows the model by."""
        self.parameters = parameters
        """Where the settings say it; servers don't."""
        self._transport = Transport(goes, api_key, timeout, retries, sleep)
        try:
            served = self._served(shown(goes.address))
            self._tokenizes = self._offers("/tokenize", {"model": model, "prompt": "a"}, lambda body: body["count"])
            self.capabilities = Capabilities(
                schema=self._offers("/v1/chat/completions", schema_probe(model), keeps_to_schema),
                prompt_logprobs=self._offers("/v1/completions", echo_body(model, "a b"), lambda b: read_echo(b, "b")),
                context_length=min(context, served or context),
                token_logprobs=self._offers("/v1/chat/completions", alternatives_probe(model), tells_alternatives),
            )
        except TransportFault as fault:
            self.close()
            raise ModelUnavailable(
                f"no usable answer from the model server at {shown(goes.address)}: {fault}; "
                "start the server, or correct the address"
            ) from fault
        except ModelUnavailable:
            self.close()
            raise

    def complete(self, request: ChatRequest) -> Completion:
        """Run one completion; the room for it is checked first where the server counts tokens for nothing."""
        earlier = 0
        if self._tokenizes:
            tokens, earlier = self._tokenize(request.messages)
            check_room(tokens, request.max_tokens, self.capabilities.context_length)
        body = chat_body(self.model, request)
        read = partial(read_completion, alternatives=request.alternatives)
        completion, retries = self._transport.post("/v1/chat/completions", body, read)
        return replace(completion, transport_retries=earlier + retries)

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Score a continuation by having it echoed. A token that straddles the boundary counts as the context's, so
        a continuation should begin where a word does.
        """
        body = echo_body(self.model, context + continuation)
        result, retries = self._transport.post(
            "/v1/completions", body, lambda payload: read_echo(payload, continuation)
        )
        return replace(result, transport_retries=retries)

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Ask the server for the count; one without /tokenize tells it with a completion of one token."""
        if self._tokenizes:
            return self._tokenize(messages)[0]
        body = chat_body(self.model, ChatRequest(messages, max_tokens=1))
        return self._transport.post("/v1/chat/completions", body, read_completion)[0].prompt_tokens

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _tokenize(self, messages: tuple[ChatMessage, ...]) -> tuple[int, int]:
        body = {"model": self.model, "messages": message_dicts(messages), "add_generation_prompt": True}
        return self._transport.post("/tokenize", body, lambda payload: int(payload["count"]))

    def _served(self, url: str) -> int:
        """Find the model among those that the server has, and give its context, or 0 where the server says none."""
        models, _ = self._transport.get("/v1/models", read_models)
        if self.model not in models:
            names = ", ".join(sorted(models)) or "nothing"
            raise ModelUnavailable(f"the server at {url} does not serve {self.model!r}; it serves {names}")
        return models[self.model]

    def _offers(self, path: str, body: dict[str, Any], read: Callable[[Any], object]) -> bool:
        """Try a feature out. A refusal or an answer of another shape means that it is not offered."""
        try:
            return bool(self._transport.post(path, body, lambda payload: succeeds(read, payload))[0])
        except (ModelUnavailable, ContextOverflow):
            return False


def read_models(payload: Any) -> dict[str, int]:
    """Read which models a server has, and the context of each, or 0."""
    return {str(model["id"]): max(0, int(model.get("max_model_len") or 0)) for model in payload["data"]}


def outbound(part: str, address: str) -> Outbound:
    """Say what goes to the server of a part, at an address that may end in /v1 or not."""
    return Outbound(
        told=f"{part}: {SENT.get(part, 'prompts')} go to",
        address=address.rstrip("/").removesuffix("/v1"),
        instead=f"serve the {part} on this machine, or have it in the process ({part}.engine=llama)",
    )


def succeeds(read: Callable[[Any], object], payload: Any) -> bool:
    """Tell whether an answer has what a feature would give."""
    try:
        return bool(read(payload))
    except UNREADABLE:
        return False
