"""Fits how it is told whether an answer stands on its evidence: `python -m optimize.support`.

The method answers development questions twice: as they are, and with the passages that the answers need taken out. A
logistic regression learns to tell the one from the other by the signs of `programs.support`; its balanced accuracy is
measured on questions that it was not fitted on. The weights are written into a preset, as its branch `support`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.text import Text

from metrics.record import QueryRecord
from optimize.development import Development, open_development
from optimize.measure import measure
from optimize.options import SearchRequest, program
from optimize.preset_branch import put_branch
from optimize.search_start import open_start
from programs.commands.terminal import err, open_models, out
from programs.errors import InputError
from programs.models.cache.completions import kept
from programs.models.encoders.encoder import CrossEncoder
from programs.progress import counted
from programs.report.bars import bars
from programs.settings import SupportSettings
from programs.support import SIGNS, read
from programs.workloads.query import Example
from programs.workloads.unanswerable import ENDING

HELP = """Fit on development questions, with and without what their answers need, whether an answer was found.

Run the same command again to go on with one that was stopped: what was answered is not asked again.
"""
FOLDS = 10
DRAWS = 20
"""Ways to fold the questions: with one alone, chance moves what is measured by some points."""
STRENGTH = 10.0
"""Of the regression's penalty, inverted: there are six signs and few questions."""

Numbers = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SupportRequest(SearchRequest):
    """What is asked for. `out` is the preset that the weights are written into."""

    threshold: Annotated[float, typer.Option(help="probability below which an answer counts as not found")] = 0.5


@dataclass(frozen=True)
class Fit:
    """Weights, and what they are worth on questions that they were not fitted on."""

    settings: SupportSettings
    found: float
    """The share of answerable questions that are told so."""
    missed: float
    """The share of unanswerable questions that are told so."""
    n: int

    @property
    def balanced_accuracy(self) -> float:
        """The mean of both."""
        return (self.found + self.missed) / 2


def open_both(request: SupportRequest) -> Development:
    """Open each workload as it is and without what its answers need."""
    names = [name for workload in request.workload.split(",") for name in (workload, workload + ENDING)]
    return open_development(names, request.data, request.questions, request.limit, 0.0, request.seed)


def signs_of(records: Sequence[QueryRecord], scorer: CrossEncoder) -> Numbers:
    """Give a row of signs for each answer."""
    rows = [read(record.question, record.answer, record.evidence, scorer).signs for record in counted("signs", records)]
    return np.array([[row[name] for name in SIGNS] for row in rows])


def fit(signs: Numbers, answerable: Sequence[bool], groups: Sequence[str], threshold: float) -> Fit:
    """Fit on all, and measure by folds that keep a question with and without its support together."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
    from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]

    wanted = np.array(answerable)
    if len(set(answerable)) < 2 or len(set(groups)) < FOLDS:
        raise InputError(f"{len(set(groups))} questions are too few to fit by; give at least {FOLDS}")

    def regression() -> Any:
        return LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=1000)

    told = np.zeros(len(wanted))
    for draw in range(DRAWS):
        for inside, outside in GroupKFold(FOLDS, shuffle=True, random_state=draw).split(signs, wanted, groups):
            sure = regression().fit(signs[inside], wanted[inside]).predict_proba(signs[outside])[:, 1]
            told[outside] += (sure >= threshold) / DRAWS
    whole = regression().fit(signs, wanted)
    weights = {name: round(float(weight), 3) for name, weight in zip(SIGNS, whole.coef_[0], strict=True)}
    settings = SupportSettings(
        judge=True, weights=weights, bias=round(float(whole.intercept_[0]), 3), threshold=threshold
    )
    return Fit(settings, float(told[wanted].mean()), float(1.0 - told[~wanted].mean()), len(wanted))


def write_branch(preset: Path, settings: SupportSettings) -> None:
    """Write the branch into a preset, in place of the one that it has."""
    weights = ", ".join(f'"{name}" = {weight}' for name, weight in settings.weights.items())
    put_branch(
        preset,
        "support",
        (
            "judge = true",
            f"weights = {{ {weights} }}",
            f"bias = {settings.bias}",
            f"threshold = {settings.threshold}",
        ),
    )


def search(request: SupportRequest) -> None:
    if not request.out.is_file():
        raise InputError(f"{request.out}: no such preset; name the .toml file that the weights are written into")
    start = open_start(request)
    development = open_both(request)
    models = open_models(start.settings)
    runtime = kept(models, request.kept_completions)
    if runtime.cross_encoder is None:
        raise InputError(f"{start.settings.preset} has no cross-encoder, which the signs are read with")
    try:
        with bars(err) as show:
            examples: tuple[Example, ...] = development.validation
            measured = measure(
                start,
                runtime,
                examples,
                workers=request.workers,
                listener=lambda done, total: show("questions", done, total),
            )
            signs = signs_of(measured.records, runtime.cross_encoder)
    finally:
        runtime.close()
        models.close()
    answerable = [example.reference.answerable for example in examples]
    groups = [f"{_base(example)}/{example.query.query_id}" for example in examples]
    found = fit(signs, answerable, groups, request.threshold)
    write_branch(request.out, found.settings)
    for name, column in zip(SIGNS, signs.T, strict=True):
        wanted = np.array(answerable)
        out.print(Text(f"{name}: mean {column[wanted].mean():.3f} with support, {column[~wanted].mean():.3f} without"))
    out.print(
        Text(
            f"{request.out}: balanced accuracy {found.balanced_accuracy:.3f} on questions not fitted on "
            f"(found {found.found:.3f}, missed {found.missed:.3f}, n = {found.n})"
        )
    )


def _base(example: Example) -> str:
    return str(getattr(example, "workload", "")).removesuffix(ENDING)


app = program(SupportRequest, search, HELP)

if __name__ == "__main__":
    app()
