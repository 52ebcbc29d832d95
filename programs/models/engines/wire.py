"""The OpenAI-compatible wire: how a request is written and an answer read, for the engines that speak it."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx

from programs.errors import ContextOverflow
from programs.models.engines.engine import ChatMessage, ChatRequest, Completion, GeneratedToken, Likelihood

MOST_ALTERNATIVES = 10
"""Alternatives that an engine is tried with, and that a request may ask for; few servers give more than 20."""
SPLIT_CHARACTER = "\N{GOTHIC LETTER HWAIR}"
"""A character that vocabularies have in parts alone."""
PROBE = {"word": "qz7"}
"""What no model says unless its output is held to a schema."""
PROBE_SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": [PROBE["word"]]}},
    "required": ["word"],
    "additionalProperties": False,
}


def message_dicts(messages: tuple[ChatMessage, ...]) -> list[dict[str, str]]:
    """Write messages as the wire has them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def chat_body(model: str, request: ChatRequest) -> dict[str, Any]:
    """Write a chat request."""
    body: dict[str, Any] = {
        "model": model,
        "messages": message_dicts(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if request.schema is not None:
        schema = {"name": "proposal", "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.alternatives:
        body |= {"logprobs": True, "top_logprobs": request.alternatives}
    return body


def read_completion(payload: Any, alternatives: int = 0) -> Completion:
    """Read a chat completion with the engine's own counts, and its tokens where alternatives were asked for."""
    choice, usage = payload["choices"][0], payload["usage"]
    text = choice["message"]["content"] or ""
    if not isinstance(text, str):
        raise TypeError(f"a completion whose content is {type(text).__name__}, not text")
    return Completion(
        text=text,
        prompt_tokens=int(usage["prompt_tokens"]),
        completion_tokens=int(usage["completion_tokens"]),
        finish_reason="length" if choice["finish_reason"] == "length" else "stop",
        tokens=generated_tokens(choice) if alternatives else (),
    )


def generated_tokens(choice: Any) -> tuple[GeneratedToken, ...]:
    """Read the tokens of a completion, the alternatives of each the likeliest first; none where the engine tells none.

    What a grammar left no probability at all is no alternative.
    """

    def likely(found: Any) -> tuple[GeneratedToken, ...]:
        told = (GeneratedToken(str(one["token"]), float(one["logprob"])) for one in found or ())
        return tuple(sorted((one for one in told if math.isfinite(one.logprob)), key=lambda one: -one.logprob))

    tokens = tuple(
        GeneratedToken(str(token["token"]), float(token["logprob"]), likely(token.get("top_logprobs")))
        for token in (choice.get("logprobs") or {}).get("content") or ()
    )
    return tokens if all(math.isfinite(token.logprob) for token in tokens) else ()


def tells_alternatives(payload: Any) -> bool:
    """Tell whether a completion says what else was likely, at the places where a grammar left anything else."""
    return any(len(token.alternatives) > 1 for token in read_completion(payload, MOST_ALTERNATIVES).tokens)


def check_room(prompt_tokens: int, max_tokens: int, context: int) -> None:
    """Refuse what does not fit whole. Engines cut an answer short at the end of the context without a word."""
    over = prompt_tokens + max_tokens - context
    if over > 0:
        raise ContextOverflow(
            f"a prompt of {prompt_tokens} tokens and an answer of {max_tokens} are {over} more than the context "
            f"of {context}"
        )


def echo_body(model: str, prompt: str) -> dict[str, Any]:
    """Ask for the log-probabilities of a prompt's own tokens, and for no answer."""
    return {"model": model, "prompt": prompt, "max_tokens": 0, "temperature": 0.0, "echo": True, "logprobs": 0}


def read_echo(payload: Any, continuation: str) -> Likelihood:
    """Average over the tokens that start at or after the continuation's first character.

    The boundary is counted from the end of the echoed text, because some tokenizers put a token before its start.
    A character of several tokens stands whole at the last of them, so all of them start where it starts.
    """
    echoed, usage = payload["choices"][0]["logprobs"], payload["usage"]
    boundary = len("".join(echoed["tokens"])) - len(continuation)
    scored, start = [], 0
    for token, logprob in zip(echoed["tokens"], echoed["token_logprobs"], strict=True):
        if start >= boundary and logprob is not None:
            scored.append(float(logprob))
        start += len(token)
    if not scored:  # the continuation lies inside one token
        scored.append(float(echoed["token_logprobs"][-1]))
    return Likelihood(sum(scored) / len(scored), int(usage["prompt_tokens"]), int(usage["completion_tokens"]))


def schema_probe(model: str) -> dict[str, Any]:
    """Ask something harmless under a schema that only a constrained engine can meet."""
    question = (ChatMessage("user", "Say hello."),)
    return chat_body(model, ChatRequest(question, max_tokens=64, schema=PROBE_SCHEMA))


def alternatives_probe(model: str) -> dict[str, Any]:
    """Ask for alternatives to parts of a character: some servers break where such a part is a token."""
    schema = {**PROBE_SCHEMA, "properties": {"word": {"type": "string", "enum": [SPLIT_CHARACTER]}}}
    question = (ChatMessage("user", "Say hello."),)
    return chat_body(model, ChatRequest(question, 64, schema=schema, alternatives=MOST_ALTERNATIVES))


def keeps_to_schema(payload: Any) -> bool:
    """Read the answer to `schema_probe`."""
    return bool(json.loads(read_completion(payload).text) == PROBE)


def error_message(response: httpx.Response) -> str:
    """Take the message out of an error's body, in whichever of the usual places it stands."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return response.text[:500].strip() or response.reason_phrase
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return str(error)[:1000]
