"""A model whose process is killed while it is asked."""

from __future__ import annotations

from collections.abc import Callable

from programs.models.engines.engine import ChatRequest

Script = Callable[[ChatRequest], str]


class Killed(BaseException):
    """What no code catches on purpose."""


def dying(script: Script, asked: list[ChatRequest], calls: int) -> Script:
    """Answer by a script until so many requests were answered in all; -1 lives on."""

    def answer(request: ChatRequest) -> str:
        if len(asked) == calls:
            raise Killed
        asked.append(request)
        return script(request)

    return answer
