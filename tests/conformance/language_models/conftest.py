"""The engines that the suite holds to one contract, each opened once."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from programs.models.backend import Backend, ChatRequest
from programs.models.language_model import LanguageModel
from programs.models.llama import LlamaBackend
from programs.models.scripted import ScriptedBackend
from programs.models.server import ServerBackend
from programs.models.weights import fetch

SERVER_URL = os.environ.get("STATERAG_VLLM_URL")
SERVED_MODEL = "smollm2-135m"


@dataclass(frozen=True)
class Subject:
    """An engine, and what may be asked of it."""

    open: Callable[[], Backend]
    backend: Backend
    model: LanguageModel
    enforces_schema: bool
    exact: bool
    """Greedy texts are the same whatever else is in flight (I5 speaks of scripted and in-process models)."""


def echo(request: ChatRequest) -> str:
    return "The last message was: " + request.messages[-1].content


def open_scripted() -> Backend:
    return ScriptedBackend(echo, context=512)


def open_llama() -> Backend:
    return LlamaBackend(fetch("smollm2-135m"), model="smollm2-135m", context=512)


def open_server() -> Backend:
    assert SERVER_URL is not None
    return ServerBackend(SERVER_URL, SERVED_MODEL, context=512, timeout=300.0)


OPENERS = {"scripted": open_scripted, "llama": open_llama, "server": open_server}
PARAMS = [
    pytest.param("scripted"),
    pytest.param("llama", marks=pytest.mark.model),
    *([pytest.param("server", marks=pytest.mark.server)] if SERVER_URL else []),
]


@pytest.fixture(scope="session", params=PARAMS)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    kind = request.param
    backend = OPENERS[kind]()
    yield Subject(
        open=OPENERS[kind],
        backend=backend,
        model=LanguageModel(backend, max_tokens=24),
        enforces_schema=kind != "scripted",
        exact=kind != "server",
    )
    backend.close()
