"""Fits the weights of the fitted ranking: `python -m optimize.ranking`.

Each training question has its own sources, some of which its answer needs. A logistic regression learns to tell these
from the others by the signs of `programs.roles.fitted`, once by a candidate alone and once by what leads to it from the
best of the first look; the second is fitted on first looks by weights that had not seen the question. The weights are
written into a preset, as its branch `ranking`. No language model is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from metrics.evidence import passage_found, source_recall
from optimize.development import open_development, open_training
from optimize.options import program
from optimize.preset_branch import put_branch
from programs.commands.options import Offline, Preset
from programs.commands.terminal import err, out
from programs.errors import InputError
from programs.models.encoders.encoder import CrossEncoder, Encoder
from programs.models.runtime import open_cross_encoder, open_encoder
from programs.progress import counted
from programs.report.bars import bars
from programs.roles.fitted import SIGNS, Candidates, Numbers, probability, weighed
from programs.roles.relevance import fused
from programs.settings import RankingSettings, Settings, load_settings
from programs.tam.build import regions_of
from programs.tam.segment import Segment
from programs.workloads.query import Example

HELP = """Fit the weights of the fitted ranking on training questions, and write them into a preset.

With --check they are measured on development questions, beside the fusion of ranks, which has no weights.
"""
FOLDS = 5
STRENGTH = 1.0
"""Of the regression's penalty, inverted."""
DEPTHS = (2, 5, 8)
"""Numbers of candidates whose recall is told."""


@dataclass(frozen=True, kw_only=True)
class RankingRequest:
    """What is asked for."""

    workload: Annotated[str, typer.Option(help="one workload or several, with commas")]
    data: Annotated[Path, typer.Option(help="the folder that holds the workloads' files")]
    out: Annotated[Path, typer.Option(help="the preset that the weights are written into")]
    limit: Annotated[int | None, typer.Option(help="the first N questions of each workload")] = None
    check: Annotated[int, typer.Option(help="development questions of each workload to measure on; 0 for none")] = 0
    pool: Annotated[int, typer.Option(help="the regions nearest to a question that are ranked")] = 40
    preset: Preset = "embedded"
    offline: Offline = False


@dataclass(frozen=True)
class Ranked:
    """A question's candidates, and which of them its answer needs."""

    example: Example
    regions: Sequence[Segment]
    looked: Candidates
    needed: Numbers = field(repr=False)

    def recall(self, scores: Numbers, depth: int) -> float:
        """Give the share of what is needed that the best candidates have."""
        best = [self.regions[place].record() for place in np.argsort(-scores, kind="stable")[:depth]]
        reference = self.example.reference
        if reference.passages:
            return passage_found(best, reference.passages)
        return source_recall([record.source_id for record in best], reference.supporting)


def ranked(example: Example, encoder: Encoder, scorer: CrossEncoder, settings: Settings, pool: int) -> Ranked:
    """Look at the regions nearest to a question, as the methods that rank by these weights do."""
    question, reference = example.query.question, example.reference
    regions = regions_of(example.query.collection, encoder, settings.tam)
    cosines = encoder.encode_passages([region.text for region in regions]) @ encoder.encode_queries([question])[0]
    near = [regions[place] for place in np.argsort(-cosines, kind="stable")[:pool]]
    needed = [
        any(passage_found([region.record()], [group]) for group in reference.passages)
        or region.source_id in reference.supporting
        for region in near
    ]
    looked = Candidates.read(question, [region.text for region in near], encoder, scorer)
    return Ranked(example, near, looked, np.array(needed, dtype=np.float64))


def fit(questions: Sequence[Ranked]) -> RankingSettings:
    """Fit both looks, the second on first looks by weights of other questions."""
    from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]

    if len(questions) < FOLDS or not any(question.needed.any() for question in questions):
        raise InputError(f"{len(questions)} questions are too few to fit by, or none says what its answer needs")
    alone = [question.looked.alone for question in questions]
    needed = np.concatenate([question.needed for question in questions])
    groups = np.concatenate([[place] * len(rows) for place, rows in enumerate(alone)])
    signs, first = np.concatenate(alone), np.zeros(len(needed))
    for inside, outside in GroupKFold(FOLDS).split(signs, needed, groups):
        weights = _weights(signs[inside], needed[inside], SIGNS["alone"])
        first[outside] = probability(signs[outside], weights, SIGNS["alone"])
    linked = [question.looked.linked(first[groups == place]) for place, question in enumerate(questions)]
    return RankingSettings(
        alone=_weights(signs, needed, SIGNS["alone"]),
        linked=_weights(np.concatenate(linked), needed, SIGNS["linked"]),
    )


def _weights(signs: Numbers, needed: Numbers, names: Sequence[str]) -> dict[str, float]:
    """Fit a regression on signs of one spread, and give its weights for the signs as they are."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    mean, spread = signs.mean(axis=0), np.maximum(signs.std(axis=0), 1e-9)
    found: Any = LogisticRegression(C=STRENGTH, max_iter=2000).fit((signs - mean) / spread, needed)
    weights = found.coef_[0] / spread
    bias = float(found.intercept_[0] - weights @ mean)
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)} | {
        "bias": round(bias, 4)
    }


def write_branch(preset: Path, fitted: RankingSettings) -> None:
    """Write the weights into a preset, in place of those that it has."""
    looks = (
        f"{look} = {{ {', '.join(f'{name} = {weight}' for name, weight in weights.items())} }}"
        for look, weights in fitted.model_dump().items()
    )
    put_branch(preset, "ranking", looks)


def recalls(questions: Sequence[Ranked], scores: Sequence[Numbers]) -> str:
    """Say how much of what is needed the best candidates have."""
    found = {
        depth: np.mean([question.recall(score, depth) for question, score in zip(questions, scores, strict=True)])
        for depth in DEPTHS
    }
    return ", ".join(f"{recall:.3f} in the best {depth}" for depth, recall in found.items())


def check(
    name: str, questions: Sequence[Ranked], fitted: RankingSettings, encoder: Encoder, scorer: CrossEncoder
) -> None:
    """Tell what the weights are worth on questions of a workload, beside the fusion of ranks, which has none."""
    unfitted = [
        fused(question.example.query.question, (), [region.text for region in question.regions], encoder, scorer)
        for question in counted("fusion", questions)
    ]
    fit_to = [weighed(question.looked, fitted) for question in questions]
    out.print(Text(f"{name}, fitted: {recalls(questions, fit_to)} (n = {len(questions)})"))
    out.print(Text(f"{name}, fusion: {recalls(questions, unfitted)}"))


def search(request: RankingRequest) -> None:
    if not request.out.is_file():
        raise InputError(f"{request.out}: no such preset; name the .toml file that the weights are written into")
    settings, names = load_settings(request.preset), request.workload.split(",")
    scorer = open_cross_encoder(settings.cross_encoder)
    if scorer is None:
        raise InputError(f"{settings.preset} has no cross-encoder, whose scores are among the signs")
    encoder = open_encoder(settings.encoder)

    def look(step: str, examples: Sequence[Example]) -> list[Ranked]:
        return [ranked(example, encoder, scorer, settings, request.pool) for example in counted(step, examples)]

    def development(name: str) -> Sequence[Example]:
        return open_development([name], request.data, None, request.check, 0.0, 0).validation

    with bars(err):
        fitted = fit(look("training questions", open_training(names, request.data, request.limit)))
        checked = {name: look(name, development(name)) for name in names} if request.check else {}
        write_branch(request.out, fitted)
        for name, questions in checked.items():
            check(name, questions, fitted, encoder, scorer)
    out.print(Text(f"{request.out}: {len(fitted.alone)} and {len(fitted.linked)} weights"))


app = program(RankingRequest, search, HELP)

if __name__ == "__main__":
    app()
