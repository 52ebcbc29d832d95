"""GEPA over the trials: it selects candidates and minibatches, and has one role's instruction rewritten at a time.

Its engine is `gepa` itself, and not DSPy's wrapper, which leaves out the calls whose completion could not be used,
runs a question that takes long a second time, and draws bars of its own. Its state is not saved to a folder: that is
a pickle. A search that was killed is run again, and kept completions answer what was asked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy
from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch, GEPAAdapter
from gepa.core.state import GEPAState

from optimize.prompts.call_recorder import RecordedCall, plain
from optimize.prompts.optimisable import OptimisableProgram
from optimize.prompts.proposer import Proposer
from optimize.prompts.trials import Prompts, PromptTrials, Run
from programs.selection.compiled import Prompt

MINIBATCH = 3
"""Training questions that a proposal is made from, and first tried on."""
SHOWN = 2
"""Calls of one query that a proposer is shown, those that failed first."""
BARREN = 6
"""Proposals in a row that were nothing new, after which no more are asked for: each takes a model's time."""
IDLE = 100
"""Rounds in a row without a new run, after which there is nothing more to find: every minibatch was perfect."""

Candidate = dict[str, str]
"""Instructions by the name of their predictor."""
Trajectory = tuple[int, Run]
"""A question's position, and what came of it."""
Batch = EvaluationBatch[Trajectory, str]


@dataclass
class GepaReflection(GEPAAdapter[int, Trajectory, str]):
    """What GEPA asks of a system: to run a candidate, to say what came of it, and to propose another."""

    trials: PromptTrials
    proposer: Proposer
    barren: int = 0
    """Proposals in a row that were nothing new."""
    _batch: Sequence[int] = ()
    """The questions that the next proposal is made from."""

    def evaluate(self, batch: list[int], candidate: Candidate, capture_traces: bool = False) -> Batch:
        """Run a candidate on questions, given by their positions."""
        self._batch, before = batch, self.trials.made
        runs = self.trials.run_all(self.prompts(candidate), batch)
        return EvaluationBatch(
            outputs=[run.record.answer if run.record else "" for run in runs],
            scores=[run.score for run in runs],
            trajectories=list(zip(batch, runs, strict=True)) if capture_traces else None,
            num_metric_calls=self.trials.made - before,
        )

    def make_reflective_dataset(
        self, candidate: Candidate, eval_batch: Batch, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Show calls of a role, each with what is to be said about its query."""
        return {
            name: [
                self._example(step, position, run)
                for position, run in eval_batch.trajectories or []
                for step in _telling(name, run)
            ]
            for name in components_to_update
        }

    def propose_new_texts(
        self,
        candidate: Candidate,
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> Candidate:
        """Propose instructions. One that the same questions have tried, or that quotes development data, is none."""
        proposed: Candidate = {}
        for name in components_to_update:
            examples = reflective_dataset[name]
            text = self.proposer(name, candidate[name], examples) if examples else None
            if text is not None and self._is_new({**candidate, name: text}) and not self.trials.quotes(text):
                proposed[name] = text
            self.barren = 0 if name in proposed else self.barren + 1
        return proposed

    def prompts(self, candidate: Candidate) -> Prompts:
        """Give the whole candidate, with the demonstrations that the search started from."""
        start = self.trials.start
        changed = {name: Prompt(instructions=text, demos=start[name].demos) for name, text in candidate.items()}
        return {**start, **changed}

    def _is_new(self, candidate: Candidate) -> bool:
        return not self.trials.knows(self.prompts(candidate), self._batch)

    def _example(self, step: RecordedCall, position: int, run: Run) -> dict[str, Any]:
        assert run.record is not None  # a refused candidate has no steps
        said = self.trials.judge.tell(step.predictor, run.record, position, run.score)
        return {"Inputs": plain(step.inputs), "Generated Outputs": step.said, "Feedback": said}


class Silence:
    """A logger for GEPA that keeps nothing."""

    def log(self, message: str) -> None:
        """Take a line and forget it."""


def reflect(program: OptimisableProgram, trials: PromptTrials, proposer: Proposer, seed: int) -> None:
    """Search by reflection until the budget is spent, or nothing new is found."""
    train = [example.query.position for example in trials.development.train]
    seed_candidate = {name: predictor.signature.instructions for name, predictor in program.named_predictors()}
    reflection = GepaReflection(trials, proposer)
    with dspy.context(disable_history=True):
        optimize(
            seed_candidate=seed_candidate,
            trainset=train,
            valset=trials.validation,
            adapter=reflection,
            reflection_minibatch_size=min(MINIBATCH, len(train)),
            use_merge=len(seed_candidate) > 1,
            stop_callbacks=Stop(reflection),
            logger=Silence(),
            track_best_outputs=False,
            seed=seed,
        )


class Stop:
    """Ends a search that has spent its budget, or has found nothing new for a while."""

    def __init__(self, reflection: GepaReflection) -> None:
        self._reflection = reflection
        self._made = -1
        self._idle = 0

    def __call__(self, gepa_state: GEPAState[Any, Any]) -> bool:
        """Look at each round."""
        trials = self._reflection.trials
        self._idle = self._idle + 1 if trials.made == self._made else 0
        self._made = trials.made
        return trials.left <= 0 or self._idle >= IDLE or self._reflection.barren >= BARREN


def _telling(name: str, run: Run) -> list[RecordedCall]:
    """Choose the calls to show of a query: those that failed, then others."""
    steps = [step for step in run.steps if step.predictor == name]
    return sorted(steps, key=lambda step: step.outputs is not None)[:SHOWN]
