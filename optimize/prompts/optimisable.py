"""The program as DSPy's optimisers see it: the predictors that are to be optimised, by their names, and nothing else.

It holds prompts, and the trials runs them. So an optimiser's copies cost nothing, the models stay out of its reach
(roles are given theirs call by call), and an example is a question's number: its sources and its reference never pass
through an optimiser, which would show them to a model.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import dspy

from optimize.prompts.call_recorder import plain
from optimize.prompts.trials import Prompts, PromptTrials
from programs.methods.base import Program
from programs.models.adapter import TemplateAdapter
from programs.models.engines.engine import ChatMessage
from programs.models.language_model import LanguageModel
from programs.selection.compiled import READER, Prompt
from programs.workloads.query import Example

DEMO_SHARE = 4
"""Demonstrations may take this part of a model's context: a quarter."""


class OptimisableProgram(dspy.Module):  # type: ignore[misc]
    """Some predictors of a program, the others staying as they are."""

    def __init__(self, program: Program, names: Iterable[str], trials: PromptTrials) -> None:
        super().__init__()
        known = dict(program.named_predictors())
        self._predictors = {name: copy.deepcopy(known[name]) for name in names}
        self._trials = trials

    def named_parameters(self) -> list[tuple[str, dspy.Predict]]:
        """Give the predictors by the names that they have in the program."""
        return list(self._predictors.items())

    def forward(self, question: str, position: int) -> dspy.Prediction:
        """Run the program with these prompts, and leave the calls of these predictors in DSPy's trace."""
        run = self._trials.run(self.prompts(), position)
        if dspy.settings.trace is not None:
            for step in run.steps:
                if step.predictor in self._predictors and step.outputs is not None:
                    said = dspy.Prediction(**step.outputs)
                    dspy.settings.trace.append((self._predictors[step.predictor], dict(step.inputs), said))
        return dspy.Prediction(answer=run.record.answer if run.record else "", record=run.record, score=run.score)

    def prompts(self) -> Prompts:
        """Give the whole candidate: these prompts over those that the search started from."""
        own = {name: self._fitting(name, predictor) for name, predictor in self._predictors.items()}
        return {**self._trials.start, **own}

    def _fitting(self, name: str, predictor: dspy.Predict) -> Prompt:
        """Write a predictor's prompt, with as many new demonstrations as its model has room for."""
        prompt = prompt_of(predictor)
        if prompt.demos == self._trials.start[name].demos:
            return prompt
        runtime = self._trials.runtime
        model = runtime.reader if name.startswith(READER) else runtime.auxiliary
        room = model.engine.capabilities.context_length // DEMO_SHARE
        demos = []
        for demo, taken in zip(prompt.demos, accumulate(_tokens(predictor, model)), strict=True):
            if taken > room:
                break
            demos.append(demo)
        return Prompt(instructions=prompt.instructions, demos=tuple(demos))


def prompts_of(program: Program) -> Prompts:
    """Give the prompts of every predictor of a program."""
    return {name: prompt_of(predictor) for name, predictor in program.named_predictors()}


def prompt_of(predictor: dspy.Predict) -> Prompt:
    """Write a predictor's instruction and its whole demonstrations as plain JSON."""
    signature = predictor.signature
    return Prompt(
        instructions=signature.instructions,
        demos=tuple({name: plain(demo[name]) for name in signature.fields} for demo in _whole(predictor)),
    )


def _whole(predictor: dspy.Predict) -> list[dspy.Example]:
    """Leave out demonstrations that lack a field."""
    return [demo for demo in predictor.demos if all(name in demo for name in predictor.signature.fields)]


def _tokens(predictor: dspy.Predict, model: LanguageModel) -> Iterator[int]:
    """Count each demonstration as its predictor's prompt will have it."""
    for demo in _whole(predictor):
        turns = TemplateAdapter().format(predictor.signature, [demo], {})[1:3]
        yield model.count_tokens(tuple(ChatMessage(turn["role"], turn["content"]) for turn in turns))


def questions(examples: Sequence[Example]) -> list[dspy.Example]:
    """Give questions to an optimiser."""
    return [
        dspy.Example(question=example.query.question, position=example.query.position).with_inputs(
            "question", "position"
        )
        for example in examples
    ]
