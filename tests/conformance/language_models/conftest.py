"""The engines that the suite holds to one contract, each opened once."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from programs.models.engines.engine import ChatRequest, Engine
from programs.models.engines.llama import LlamaEngine
from programs.models.engines.server import ServerEngine
from programs.models.language_model import LanguageModel
from programs.models.weights.fetch import fetch
from tests.support.scripted import ScriptedEngine

SERVER_URL = os.environ.get("STATERAG_VLLM_URL")
SERVED_MODEL = "smollm2-135m"


@dataclass(frozen=True)
class Subject:
    """An engine, and what may be asked of it."""

    open: Callable[[], Engine]
    engine: Engine
    model: LanguageModel
    enforces_schema: bool
    exact: bool
    """Greedy texts are the same whatever else is in flight (I5 speaks of scripted and in-process models)."""


def echo(request: ChatRequest) -> str:
    return "The last message was: " + request.messages[-1].content


def open_scripted() -> Engine:
    return ScriptedEngine(echo, context=512)


def open_llama() -> Engine:
    return LlamaEngine(fetch("smollm2-135m"), model="smollm2-135m", context=512)


def open_server() -> Engine:
    assert SERVER_URL is not None
    return ServerEngine(SERVER_URL, SERVED_MODEL, context=512, timeout=300.0)


OPENERS = {"scripted": open_scripted, "llama": open_llama, "server": open_server}
PARAMS = [
    pytest.param("scripted"),
    pytest.param("llama", marks=pytest.mark.model),
    *([pytest.param("server", marks=pytest.mark.server)] if SERVER_URL else []),
]


@pytest.fixture(scope="session", params=PARAMS)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    kind = request.param
    engine = OPENERS[kind]()
    yield Subject(
        open=OPENERS[kind],
        engine=engine,
        model=LanguageModel(engine, max_tokens=24),
        enforces_schema=kind != "scripted",
        exact=kind != "server",
    )
    engine.close()
