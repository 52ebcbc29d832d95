"""A search for parameters as it was asked for: opens what it needs, runs it, and tells what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from optimize.development import Development
from optimize.options import ParameterRequest
from optimize.parameters.outcome import best_trials, compiled_parameters, gain
from optimize.parameters.search import Finished, Objective, ParameterSearch, Progress
from optimize.parameters.study import Study, open_study
from optimize.parameters.trial import RULE, SLICES, SlicedQuestions, Trial
from optimize.search_page import optuna_library, write_page
from optimize.search_start import check_out, fixed_settings, open_questions, open_start
from optimize.spaces import space_of
from optimize.tracking import SearchTracker, open_search_tracker
from programs.commands.terminal import err, out
from programs.errors import InputError
from programs.models.cache.completions import kept
from programs.models.identity import model_identities
from programs.models.runtime import Runtime
from programs.progress import Listener
from programs.report.bars import bars
from programs.report.terminal_tables import print_fitted
from programs.selection.compiled import write_compiled
from programs.selection.configured import ConfiguredMethod
from programs.settings import Settings


def check(request: ParameterRequest, settings: Settings) -> None:
    """Say at once what is out of bounds, or can't be written in the end."""
    optuna_library()
    if request.trials < 1 or request.workers < 1:
        raise InputError("--trials and --workers count from 1")
    check_out(request)
    Objective(request.metric, request.cost).check(settings)


def run_search(request: ParameterRequest, open_models: Callable[[Settings], Runtime]) -> Trial:
    """Do what was asked for."""
    configured = open_start(request)
    check(request, configured.settings)
    development = open_questions(request)
    questions = SlicedQuestions.sliced(development.validation, SLICES)
    space = space_of(request.method, configured.settings, request.cheap, fixed_settings(request, configured.settings))
    about = described(request, configured, space.described(), development)
    tracker = open_search_tracker(request.track, request.folder)
    with open_study(request.folder, about, split_of(development), space, questions) as study:
        models = open_models(configured.settings)
        runtime = kept(models, request.kept_completions)
        objective = Objective(request.metric, request.cost)
        search = ParameterSearch(configured, space, questions, objective, runtime, request.seed, request.workers)
        try:
            tracker.begin(about)
            return _search(request, search, study, development, tracker, about)
        except KeyboardInterrupt:
            kept_trials = f"{len(study.trials)} of {request.trials} trials are kept in {request.folder}"
            err.print(Text(f"{kept_trials}: the same command goes on"))
            raise
        finally:
            runtime.close()
            models.close()


def _search(
    request: ParameterRequest,
    search: ParameterSearch,
    study: Study,
    development: Development,
    tracker: SearchTracker,
    about: Mapping[str, Any],
) -> Trial:
    with bars(err) as show:
        chosen = search.run(study, request.trials, *_told(show, study, request.trials, tracker))
        measured = {number: search.measured(study.trials[number]) for number in sorted({0, chosen.number})}
    scores, baseline = measured[chosen.number], measured[0]
    fixed = fixed_settings(request, search.configured.settings)
    compiled = compiled_parameters(search, development, study.trials, chosen, scores, baseline, fixed)
    write_compiled(request.out, compiled)
    tracker.trial(study.line(chosen, chosen=True))
    ranked = best_trials(search, study.trials, chosen)
    told = f"{request.out}: trial {chosen.number} of {len(study.trials)}; {gain(search, scores, baseline)}"
    lines = [study.line(trial, trial is chosen) for trial in study.trials]
    tracker.finish([*write_page(study.folder, about, lines, [ranked, Text(told)]), request.out])
    print_fitted(ranked, out)
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
    request: ParameterRequest, configured: ConfiguredMethod, space: Mapping[str, Any], development: Development
) -> dict[str, Any]:
    """Say what is searched: two searches of which this is the same are one."""
    objective = Objective(request.metric, request.cost)
    return {
        "method": request.method,
        "preset": configured.settings.preset,
        "quality": objective.quality,
        "cost": objective.cost,
        "rule": RULE,
        "seed": request.seed,
        "trials": request.trials,
        "space": space,
        "settings": configured.settings.digest,
        "development": development.digest,
        "workloads": list(development.workloads),
        "models": [entry.model_dump(mode="json") for entry in model_identities(configured.settings)],
        "start": configured.compiled.digest if configured.compiled else None,
    }


def split_of(development: Development) -> dict[str, Any]:
    """Say which questions are on which side."""
    sides = {"train": development.train, "validation": development.validation}
    return {
        "digest": development.digest,
        "workloads": list(development.workloads),
        **{side: [example.query.query_id for example in examples] for side, examples in sides.items()},
    }
