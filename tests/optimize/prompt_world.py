"""Development questions and scripted models for searches over prompts: which prompt is better is known beforehand."""

from __future__ import annotations

import json
import re
from typing import Any

from optimize.development import Development, DevelopmentExample
from optimize.prompts.search import Search, choose_prompts
from programs.models.engines.engine import ChatRequest
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings
from programs.workloads.hashes import seen_of
from programs.workloads.query import Query, Reference
from tests.support.runs import ASKS_MODELS, opinions
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import make_collection, small_settings

MAGIC = "LANTERN"
"""The word that a better instruction has."""
REWRITES = "You improve the instruction"
TEACHES = "You teach one role"
PROPOSES = "Use the information below"
"""How the prompts for proposals open."""
READS = "Answer the question"


def make_development(train: int = 6, validation: int = 5, workloads: tuple[str, ...] = ("test",)) -> Development:
    examples = []
    for position in range(train + validation):
        query_id = f"question-{position}"
        query = Query(
            query_id=query_id,
            question=f"Which harbour has pier number {position}?",
            collection=make_collection(sources=6 + position),
            position=position,
        )
        reference = Reference(query_id=query_id, answers=(right(position),), supporting=(f"note-{position % 6}.md",))
        workload = workloads[position % len(workloads)]
        examples.append(DevelopmentExample(query=query, reference=reference, workload=workload))
    return Development(
        train=tuple(examples[:train]),
        validation=tuple(examples[train:]),
        workloads=workloads,
        seen=seen_of([example.query for example in examples]),
        digest=f"{train}+{validation}",
    )


def right(position: int) -> str:
    return f"Port Number {position}"


def position_in(text: str) -> int:
    return int(re.findall(r"pier number (\d+)", text)[-1])


def instruction_of(request: ChatRequest) -> str:
    return request.messages[0].content


def asked_of(request: ChatRequest) -> str:
    return request.messages[-1].content


def rewritten(instruction: str) -> str:
    return json.dumps({"instruction": instruction})


def answers_with_the_word(request: ChatRequest) -> str:
    """Read well only under an instruction with the word, and propose one when asked."""
    if instruction_of(request).startswith(REWRITES):
        return rewritten(f"{READS} by the light of a {MAGIC}.")
    if instruction_of(request).startswith(PROPOSES):
        return f"{READS} by the light of a {MAGIC}."
    if instruction_of(request).startswith(READS):
        return right(position_in(asked_of(request))) if MAGIC in instruction_of(request) else "no idea"
    return opinions(request)


def slowly_better(request: ChatRequest) -> str:
    """Propose the word only after something else, so that a search has a history; read odd numbers with help alone."""
    opening, last = instruction_of(request), asked_of(request)
    if opening.startswith(REWRITES) and "light" not in last:
        return rewritten(f"{READS} by the light of day.")
    if opening.startswith(READS) and (len(request.messages) > 2 or position_in(last) % 2 == 0):
        return right(position_in(last))
    return answers_with_the_word(request)


def settings_for(**branches: Any) -> Settings:
    return small_settings(**{**ASKS_MODELS, "memory": {"keep_global": False}, **branches})


def make_runtime(script: Any, settings: Settings | None = None, latency: float = 0.0) -> Runtime:
    model = LanguageModel(ScriptedEngine(script, parameters=1000, context=16384, latency=latency))
    return Runtime(settings or settings_for(), model, model, HashedEncoder(), OverlapCrossEncoder())


def search_with(script: Any, folder: Any, method: str = "vanilla", **options: Any) -> Any:
    """Run a search over prompts with a scripted model."""
    development = options.pop("development", None) or make_development()
    settings = options.pop("settings", None) or settings_for()
    compiled = options.pop("compiled", None)
    proposer = options.pop("proposer", None)
    listener = options.pop("listener", lambda step, done, total: None)
    search = Search(**{"optimizer": "gepa", "quality": "em", "budget": 40, "seed": 0, **options})
    runtime = make_runtime(script, settings)
    start = ConfiguredMethod(method, settings, compiled)
    return choose_prompts(start, development, runtime, folder / "completions.sqlite", search, proposer, listener)
