"""A search for parameters as it was asked for: opens what it needs, runs it, and tells what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from optimize.chosen_parameters import compiled_parameters
from optimize.development import Development
from optimize.pareto import RULE
from optimize.pruning import SLICES
from optimize.questions import Questions
from optimize.ranking import gain, ranking
from optimize.sampling import optuna_library
from optimize.search import Finished, Objective, ParameterSearch, Progress
from optimize.search_request import SearchRequest
from optimize.spaces import space_of
from optimize.study import Study, open_study
from optimize.summary import write_summary
from optimize.tracking import SearchTracker, open_search_tracker
from optimize.trial import Trial
from programs.commands.terminal import err, out
from programs.errors import InputError
from programs.methods.compiled import write_compiled
from programs.methods.contender import Contender
from programs.models.completions import kept
from programs.models.entry import model_entries
from programs.models.runtime import Runtime
from programs.progress import Listener
from programs.report.bars import bars
from programs.report.terminal_tables import print_whole
from programs.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Request(SearchRequest):
    """The options."""

    trials: int
    cost: str = "ret"
    cheap: bool = False
    track: str | None = None

    def objective(self) -> Objective:
        """Give the metrics to search by."""
        return Objective(self.metric, self.cost)

    def check(self, settings: Settings) -> None:
        """Say at once what is out of bounds, or can't be written in the end."""
        optuna_library()
        if self.trials < 1 or self.workers < 1:
            raise InputError("--trials and --workers count from 1")
        self.check_out()
        self.objective().check(settings)


def run_search(request: Request, open_models: Callable[[Settings], Runtime]) -> Trial:
    """Do what was asked for."""
    contender = request.contender()
    request.check(contender.settings)
    development = request.development()
    questions = Questions.sliced(development.validation, SLICES)
    space = space_of(request.method, contender.settings, request.cheap, request.fixed(contender.settings))
    about = described(request, contender, space.described(), development)
    tracker = open_search_tracker(request.track, request.folder)
    with open_study(request.folder, about, split_of(development), space, questions) as study:
        models = open_models(contender.settings)
        runtime = kept(models, request.kept)
        objective = request.objective()
        search = ParameterSearch(contender, space, questions, objective, runtime, request.seed, request.workers)
        try:
            tracker.begin(about)
            return _search(request, search, study, development, tracker)
        except KeyboardInterrupt:
            kept_trials = f"{len(study.trials)} of {request.trials} trials are kept in {request.folder}"
            err.print(Text(f"{kept_trials}: the same command goes on"))
            raise
        finally:
            runtime.close()
            models.close()


def _search(
    request: Request, search: ParameterSearch, study: Study, development: Development, tracker: SearchTracker
) -> Trial:
    with bars(err) as show:
        chosen = search.run(study, request.trials, *_told(show, study, request.trials, tracker))
        measured = {number: search.measured(study.trials[number]) for number in sorted({0, chosen.number})}
    scores, baseline = measured[chosen.number], measured[0]
    fixed = request.fixed(search.contender.settings)
    compiled = compiled_parameters(search, development, study.trials, chosen, scores, baseline, fixed)
    write_compiled(request.out, compiled)
    tracker.trial(study.line(chosen, chosen=True))
    tracker.finish([*write_summary(study.folder), request.out])
    print_whole(ranking(search, study.trials, chosen), out)
    told = f"{request.out}: trial {chosen.number} of {len(study.trials)}; {gain(search, scores, baseline)}"
    out.print(Text(told), soft_wrap=True)
    return chosen


def _told(show: Listener, study: Study, trials: int, tracker: SearchTracker) -> tuple[Progress, Finished]:
    """Show the trials and the questions of the one under way, and have the tracker hear of what is finished."""
    total = max(trials, len(study.trials))
    show("trials", len(study.trials), total)
    for trial in study.trials:
        tracker.trial(study.line(trial))

    def progress(number: int, done: int, asked: int) -> None:
        show(f"trial {number}", done, asked)

    def finished(trial: Trial) -> None:
        show(f"trial {trial.number}", 1, 1)
        show("trials", trial.number + 1, total)
        tracker.trial(study.line(trial))

    return progress, finished


def described(
    request: Request, contender: Contender, space: Mapping[str, Any], development: Development
) -> dict[str, Any]:
    """Say what is searched: two searches of which this is the same are one."""
    objective = request.objective()
    return {
        "method": request.method,
        "preset": contender.settings.preset,
        "quality": objective.quality,
        "cost": objective.cost,
        "rule": RULE,
        "seed": request.seed,
        "trials": request.trials,
        "space": space,
        "settings": contender.settings.digest,
        "development": development.digest,
        "workloads": list(development.workloads),
        "models": [entry.model_dump(mode="json") for entry in model_entries(contender.settings)],
        "start": contender.compiled.digest if contender.compiled else None,
    }


def split_of(development: Development) -> dict[str, Any]:
    """Say which questions are on which side."""
    sides = {"train": development.train, "validation": development.validation}
    return {
        "digest": development.digest,
        "workloads": list(development.workloads),
        **{side: [example.query.query_id for example in examples] for side, examples in sides.items()},
    }
