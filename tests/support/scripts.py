"""Scripted models for whole queries: each role answers by a rule, told apart by the opening of its instruction."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from programs.models.engines.engine import ChatRequest

OPENINGS = {
    "planner": "You are the Planner",
    "navigator": "You score candidate",
    "retriever": "You are the Retriever",
    "verifier": "You are the Verifier",
    "reader": "Answer the question",
    "abstraction": "You generate a concise",
}

PLAN = json.dumps({"objective": "find the lens", "targets": ["observatory lens dome", "harbour ferry pier"]})


class RoleScript:
    """A script for `ScriptedEngine`: a completion, or a function of the request, for each role. Keeps every request."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "planner": PLAN,
            "navigator": grade_all,
            "retriever": lambda request: json.dumps({"selected": [1, 2]}),
            "verifier": json.dumps({"verdict": "PASS", "justification": "all there"}),
            "reader": "the dome",
            "abstraction": "notes that belong together",
            **answers,
        }
        self.requests: list[tuple[str, ChatRequest]] = []

    def __call__(self, request: ChatRequest) -> str:
        role = next(r for r, opening in OPENINGS.items() if request.messages[0].content.startswith(opening))
        self.requests.append((role, request))
        answer = self.answers[role]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        said = answer(request) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]
        if role == "reader" and request.schema is not None and not said.startswith("{"):
            return json.dumps({"records": [1], "answer": said})  # asked to name its records
        return said

    def asked(self, role: str) -> list[ChatRequest]:
        return [request for name, request in self.requests if name == role]


def grade_all(request: ChatRequest) -> str:
    """Give every listed trace a score that falls with its number."""
    numbers = [int(n) for n in re.findall(r"^\[(\d+)\] \w", request.messages[-1].content, flags=re.MULTILINE)]
    return json.dumps({"scores": [{"trace_id": n, "score": round(1 / (n + 1), 3)} for n in numbers]})


def fail(missing: str) -> str:
    return json.dumps({"verdict": "FAIL", "justification": missing})
