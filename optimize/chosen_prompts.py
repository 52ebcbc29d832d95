"""The compiled file of a search for prompts: what was chosen, over the parameters that it started from, and how."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from optimize.chosen_parameters import scores_of
from optimize.development import Development
from optimize.optimizers import NAMES
from optimize.prompt_search import Found
from programs.methods.compiled import Choice, Compiled, Spent
from programs.methods.contender import Contender
from programs.models.entry import model_entries

RULE = (
    "Of the prompts that were tried on all validation questions, those with the highest mean of {quality} over the "
    "workloads; of equals the first, and the start is the first of all."
)
START_KEPT = " None was better than the start, which is kept."
COST = "ret"


def compiled_prompts(
    start: Contender, development: Development, found: Found, fixed: Mapping[str, Any] = MappingProxyType({})
) -> Compiled:
    """Say what was chosen. What the start's file says of its own choice goes on to be true of this one.

    `fixed` are settings that the whole search had, and the preset and the start have not.
    """
    quality = found.search.quality
    name = NAMES[found.search.optimizer]
    return Compiled(
        method=start.name,
        preset=start.settings.preset,
        parameters={**(start.compiled.parameters if start.compiled else {}), **fixed},
        prompts={name: prompt for name, prompt in found.prompts.items() if prompt != found.own[name]},
        choice=Choice(
            by=name,
            objective=f"the most {quality}",
            rule=RULE.format(quality=quality) + ("" if found.changed else START_KEPT),
            seed=found.search.seed,
            development=development.digest,
            workloads=development.workloads,
            train=len(development.train),
            validation=len(development.validation),
            seen=development.seen,
            scores=scores_of(found.chosen, start.settings.lifecycle.answer),
            baseline=scores_of(found.start, start.settings.lifecycle.answer),
            models=model_entries(start.settings),
            spent=_spent(found),
        ).after(start.compiled.choice if start.compiled else None),
    )


def _spent(found: Found) -> Spent:
    return Spent(
        trials=found.candidates,
        queries=found.runs,
        prompt_tokens=sum(call.prompt_tokens for call in found.calls),
        completion_tokens=sum(call.completion_tokens for call in found.calls),
        seconds=round(sum(call.seconds for call in found.calls), 3),
    )
