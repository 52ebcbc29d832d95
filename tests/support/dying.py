"""Models that do not answer to the end: a server that refuses, and one whose process is killed while it is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from programs.errors import TransportFault
from programs.models.engines.engine import ChatRequest

Script = Callable[[ChatRequest], str]


class Killed(BaseException):
    """What no code catches on purpose."""


def refuse(asked: Any) -> NoReturn:
    """Fail as a server does that is gone, after the retries that a client makes."""
    raise TransportFault("connection refused", retries=3)


def dying(script: Script, asked: list[ChatRequest], calls: int) -> Script:
    """Answer by a script until so many requests were answered in all; -1 lives on."""

    def answer(request: ChatRequest) -> str:
        if len(asked) == calls:
            raise Killed
        asked.append(request)
        return script(request)

    return answer
