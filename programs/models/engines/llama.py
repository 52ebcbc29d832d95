"""llama.cpp inside the process: any GGUF file, no server to run, nothing that listens beyond this machine."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from programs.errors import ContextOverflow, ModelUnavailable, TransportFault
from programs.models.engines.engine import Capabilities, ChatMessage, ChatRequest, Completion, Likelihood
from programs.models.engines.gguf_vocabulary import control_tokens
from programs.models.engines.wire import chat_body, check_room, error_message, message_dicts, read_completion

MAGIC = b"GGUF"


class LlamaEngine:
    """A GGUF model in this process.

    Calls go through the engine's loopback door and not through its Python one, because a call there can be broken
    off: Ctrl-C closes the connection and the engine drops the request, where the Python call blocks to its end.

    Greedy completions are a function of the prompt alone only while requests are computed one at a time, as with
    `parallel=1`, where threads queue. With more, the engine batches what is in flight, and the arithmetic of a batch
    differs in the last digits from that of a single request: measured, several of twelve texts changed.
    """

    def __init__(
        self,
        path: Path,
        *,
        model: str,
        parameters: int | None = None,
        context: int = 4096,
        parallel: int = 1,
        threads: int | None = None,
        reuse_prefix: bool = False,
    ) -> None:
        check_gguf(path)
        self.model = model
        # A reused prefix was computed in other batches than a fresh prompt is, so with it greedy completions
        # were measured to depend on the calls before them.
        self._reuse_prefix = reuse_prefix
        key = secrets.token_urlsafe(24)
        self._server: Any = load(path, context * parallel, parallel, threads or available_cores(), key, reuse_prefix)
        self._client = httpx.Client(
            base_url=self._server.listening_address,
            headers={"Authorization": f"Bearer {key}"},
            timeout=None,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )
        facts = self._client.get("/v1/models").json()["data"][0]["meta"]
        self.parameters = parameters or int(facts["n_params"])
        self.capabilities = Capabilities(
            schema=True,
            prompt_logprobs=False,  # it has none to give
            context_length=min(context, int(facts["n_ctx_train"])),
            control_tokens=control_tokens(path),
            token_logprobs=True,
        )

    def complete(self, request: ChatRequest) -> Completion:
        """Run one completion, if the prompt and the whole answer fit."""
        check_room(self.count_tokens(request.messages), request.max_tokens, self.capabilities.context_length)
        body = chat_body(self.model, replace(request, schema=None)) | {"cache_prompt": self._reuse_prefix}
        if request.schema is not None:
            body["grammar"] = compact_json(json.dumps(request.schema))
        return read_completion(self._post("/v1/chat/completions", body), request.alternatives)

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Refuse: `capabilities.prompt_logprobs` is False."""
        raise ModelUnavailable(
            f"llama.cpp gives no prompt log-probabilities, so {self.model!r} can't score by likelihood; "
            "serve the model with vLLM, or choose another scorer"
        )

    def count_tokens(self, messages: tuple[ChatMessage, ...]) -> int:
        """Count the rendered chat prompt, by the engine that will read it."""
        counted = self._post("/v1/chat/completions/input_tokens", {"messages": message_dicts(messages)})
        return int(counted["input_tokens"])

    def close(self) -> None:
        """Free the model. A second close is nothing; a call afterwards is a `TransportFault`."""
        self._client.close()
        self._server = None

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if self._server is None:
            raise TransportFault(f"the engine of {self.model!r} is closed")
        try:
            response = self._client.post(path, json=body)
        except httpx.TransportError as fault:
            raise TransportFault(f"the engine of {self.model!r} broke off: {fault!r}") from fault
        if response.is_success:
            payload: dict[str, Any] = response.json()
            return payload
        message = error_message(response)
        if "exceed_context_size" in response.text:
            raise ContextOverflow(message)
        if response.is_server_error:
            raise TransportFault(f"the engine of {self.model!r} failed: {message}")
        raise ModelUnavailable(f"the engine of {self.model!r} refused a request: {message}")


@lru_cache(maxsize=256)
def compact_json(text: str) -> str:
    """Write a schema as a grammar of JSON on one line.

    The engine's own translation of a schema lets a model lay its JSON out over many lines, which was measured to take
    half as many tokens again. A grammar that it can't read it would leave out without a word, so that is checked here.
    """
    schema = json.loads(text)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ModelUnavailable(f"not a JSON schema: {error.message}") from error
    layout = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%llguidance {{}}\nstart: %json {json.dumps({**schema, 'x-guidance': layout})}"


def check_gguf(path: Path) -> None:
    """Refuse what is not a GGUF file before the engine sees it."""
    if not path.is_file():
        raise ModelUnavailable(f"{path}: there is no such model file; give the path of a .gguf file")
    with path.open("rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise ModelUnavailable(
            f"{path}: not a GGUF file (it starts with {magic!r}); give a .gguf file, or serve other formats with vLLM"
        )


def load(path: Path, context: int, parallel: int, threads: int, key: str, reuse_prefix: bool) -> Any:
    """Load a model and open its door, on loopback and behind a key that only this process knows."""
    # How long its worker threads spin before they sleep, which must be said before it is loaded. Its default spins so
    # long that beside other work it was measured to take ten times as long. On two cores this much gives 25 tokens a
    # second on an idle machine and 10 on a busy one; no spinning at all gives 18 and 14.
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context
    params.n_parallel = parallel
    params.kv_unified = False  # each request has its share to itself; a unified cache can run out between them
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = 256 if reuse_prefix else 0  # the engine's own default is 8 GB
    params.fit_params = params.warmup = False
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [key]
    params.endpoint_slots = params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelUnavailable(
            f"{path}: llama.cpp can't load this GGUF file with a context of {context} tokens ({error}); "
            "it may be cut short, of an architecture that llama.cpp does not know, or too large for the memory"
        ) from error


def available_cores() -> int:
    """Count the cores that this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
