"""The optimisers of prompts: GEPA rewrites instructions, MIPROv2 chooses instructions and demonstrations together, and
bootstrapping takes demonstrations from runs that went well.

None of them is given a model to set on a program: roles are lent theirs call by call, and reader and auxiliary may
differ. All run on the trials, which ends them when the budget is spent.
"""

from __future__ import annotations

import io
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TextIO

import dspy

from optimize.prompts.optimisable import OptimisableProgram, questions
from optimize.prompts.proposer import Proposer
from optimize.prompts.trials import PromptTrials, raising_causes
from programs.errors import InputError
from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel

DEMOS = 4
"""Demonstrations of one predictor at most."""
SETS = 6
"""Instructions and sets of demonstrations that MIPROv2 chooses among, for each predictor."""
MINIBATCH = 25
"""Validation questions that MIPROv2 tries a combination on first, where there are more than twice as many."""
FULL_EVERY = 5
"""Minibatches after which MIPROv2 tries the best combination on all."""
NO_LIMIT = 1_000_000
"""Errors that an optimiser lets pass. A run that breaks ends the search by itself."""


@dataclass(frozen=True)
class Task:
    """What an optimiser is given."""

    program: OptimisableProgram
    trials: PromptTrials
    proposer: LanguageModel
    seed: int
    good: float
    """The score from which a run is worth showing as an example."""


def gepa(task: Task) -> None:
    """Rewrite instructions by reflection on what was said about training runs."""
    from optimize.prompts.gepa import reflect

    reflect(task.program, task.trials, Proposer(task.proposer), task.seed)


def mipro(task: Task) -> None:
    """Propose instructions from the questions, bootstrap demonstrations, and search the combinations with TPE."""
    trials = task.trials
    validation = questions(trials.development.validation)
    minibatch = len(validation) > 2 * MINIBATCH
    optimizer = dspy.MIPROv2(
        metric=trials.judge,
        prompt_model=task.proposer,
        task_model=trials.runtime.auxiliary,
        max_bootstrapped_demos=DEMOS,
        max_labeled_demos=0,
        auto=None,
        num_candidates=SETS,
        num_threads=trials.workers,
        max_errors=NO_LIMIT,
        seed=task.seed,
        metric_threshold=task.good,
    )
    with dspy.context(adapter=TemplateAdapter(), disable_history=True):
        optimizer.compile(
            task.program,
            trainset=questions(trials.development.train),
            valset=validation,
            num_trials=max(1, trials.left // (MINIBATCH if minibatch else len(validation))),
            seed=task.seed,
            minibatch=minibatch,
            minibatch_size=min(MINIBATCH, len(validation)),
            minibatch_full_eval_steps=FULL_EVERY,
            program_aware_proposer=False,  # what it would read is this module, and not the roles
        )


def bootstrap(task: Task) -> None:
    """Take demonstrations from training runs that went well, in one order of the questions after another."""
    draw = random.Random(task.seed)
    train = questions(task.trials.development.train)
    rounds = task.trials.left // len(task.trials.validation)
    for size in [DEMOS, *(draw.randint(1, DEMOS) for _ in range(rounds))]:
        optimizer = dspy.BootstrapFewShot(
            metric=task.trials.judge,
            metric_threshold=task.good,
            max_bootstrapped_demos=size,
            max_labeled_demos=0,
            max_errors=NO_LIMIT,
        )
        shown = optimizer.compile(task.program, trainset=train)
        task.trials.run_all(shown.prompts(), task.trials.validation)
        draw.shuffle(train)


OPTIMIZERS: dict[str, Callable[[Task], None]] = {"gepa": gepa, "mipro": mipro, "bootstrap": bootstrap}
NAMES = {"gepa": "GEPA", "mipro": "MIPROv2", "bootstrap": "BootstrapFewShot"}


def check_optimizer(name: str) -> None:
    """Say at once that an optimiser is not known, or what it lacks."""
    if name not in OPTIMIZERS:
        raise InputError(f"there is no optimizer {name!r}; use one of {', '.join(OPTIMIZERS)}")
    if name == "mipro" and find_spec("optuna") is None:
        raise InputError("mipro needs optuna: pip install 'staterag[optimize]'")


def run_optimizer(name: str, task: Task) -> None:
    """Run an optimiser until it ends or the trials ends it. What broke a run is raised as it was."""
    with raising_causes(), silenced():
        OPTIMIZERS[name](task)


class Silent(io.TextIOBase):
    """A stream that drops what is written to it. Rich's consoles look behind it and write to the real one."""

    def __init__(self, real: TextIO) -> None:
        self.rich_proxied_file = getattr(real, "rich_proxied_file", real)

    def write(self, text: str) -> int:
        """Take a text and forget it."""
        return len(text)

    def writable(self) -> bool:
        """Be written to."""
        return True


@contextmanager
def silenced() -> Iterator[None]:
    """Silence prints and bars on both streams, and the warnings of an optimiser about its own options."""
    with redirect_stdout(Silent(sys.stdout)), redirect_stderr(Silent(sys.stderr)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"optuna|dspy|gepa")
        yield
