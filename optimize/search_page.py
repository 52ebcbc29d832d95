"""A search as one page, `search.html`: what was said at its end, and Optuna's own figures of its trials.

The page holds all that it needs, so it works without a network. For a closer look at a search for parameters, also
while it runs: `pip install optuna-dashboard`, then `optuna-dashboard sqlite:///runs/search/NAME/study.sqlite`.
"""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console, RenderableType

from metrics.metric import METRICS
from programs.atomic import replacing
from programs.errors import InputError

ABOUT, TRIALS, PAGE = "search.json", "trials.jsonl", "search.html"
"""Files of a search's folder: what is searched, one line a trial, and the page."""
FEWEST = 8
"""Complete trials below which the importance of a parameter would be noise with digits."""
WIDTH = 140


def optuna_library() -> ModuleType:
    """Import optuna, which is not installed unless asked for, and have it keep to itself."""
    try:
        import optuna
    except ImportError as error:
        raise InputError("a search of parameters needs optuna: pip install 'staterag[optimize]'") from error
    logging.getLogger("optuna").setLevel(logging.WARNING)
    return optuna


def write_page(
    folder: Path, about: Mapping[str, Any], lines: Sequence[Mapping[str, Any]], said: Sequence[RenderableType]
) -> list[Path]:
    """Write the page of a search from its search.json and its trials.jsonl; without plotly, warn and write none."""
    try:
        import optuna.visualization
        import plotly.offline  # type: ignore[import-untyped]
    except ImportError:
        warnings.warn(f"{PAGE} is not drawn: pip install 'staterag[optimize]'", stacklevel=2)
        return []
    optuna_library()
    heading = escape(f"{about['method']}, preset {about['preset']}, seed {about['seed']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        figures = [one.to_html(full_html=False, include_plotlyjs=False) for one in _figures(optuna, about, lines)]
    script = plotly.offline.get_plotlyjs() if figures else ""
    head = f'<meta charset="utf-8"><title>{heading}</title><script>{script}</script>'
    body = "\n".join([f"<h1>{heading}</h1><p>{escape(str(about.get('rule', '')))}</p>", _as_html(said), *figures])
    path = folder / PAGE
    with replacing(path) as file:
        file.write(f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>\n".encode())
    return [path]


def value_text(value: Any) -> str:
    """Write a parameter's value as settings files do, without digits that nobody asked for."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _as_html(said: Sequence[RenderableType]) -> str:
    console = Console(record=True, file=io.StringIO(), width=WIDTH)
    for one in said:
        console.print(one)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def _figures(optuna: Any, about: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> list[Any]:
    complete = [line for line in lines if line["state"] == "complete" and None not in (line["quality"], line["cost"])]
    if not complete:
        return []
    study = _study(optuna, complete, about.get("space", {}))
    draw = optuna.visualization
    names = [METRICS[about[which]].label for which in ("quality", "cost")]
    quality = {"target": lambda trial: trial.values[0], "target_name": names[0]}
    front = draw.plot_pareto_front(study, target_names=names)
    for line, name in [(lines[0], "start"), *((line, "chosen") for line in lines if line["chosen"])]:
        if line in complete:
            front.add_scatter(x=[line["quality"]], y=[line["cost"]], name=name, mode="markers", marker={"size": 14})
    figures = [draw.plot_optimization_history(study, **quality), front]
    varied = [key for key in study.trials[0].params if len({str(trial.params[key]) for trial in study.trials}) > 1]
    if varied and len(complete) >= FEWEST:
        measure = optuna.importance.FanovaImportanceEvaluator(seed=0)
        for at, name in enumerate(names):
            if len({trial.values[at] for trial in study.trials}) > 1:
                target = {"target": lambda trial, at=at: trial.values[at], "target_name": name}
                figures.append(draw.plot_param_importances(study, measure, params=varied, **target))
        figures += [draw.plot_slice(study, varied, **quality), draw.plot_parallel_coordinate(study, varied, **quality)]
    return figures


def _study(optuna: Any, lines: Sequence[Mapping[str, Any]], space: Mapping[str, Any]) -> Any:
    """Make a study of the settings themselves: what a sampler drew has a scale of its own."""
    keys = [key for key in lines[0]["parameters"] if all(key in line["parameters"] for line in lines)]
    columns = {key: [line["parameters"][key] for line in lines] for key in keys}
    known = {key: _distribution(optuna.distributions, column, space.get(key)) for key, column in columns.items()}
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=optuna.samplers.RandomSampler(seed=0))
    for line in lines:
        values = {key: line["parameters"][key] for key in keys}
        told = {key: float(v) if hasattr(known[key], "low") else value_text(v) for key, v in values.items()}
        measured = [line["quality"], line["cost"]]
        study.add_trial(optuna.trial.create_trial(params=told, distributions=known, values=measured))
    return study


def _distribution(kinds: Any, column: Sequence[Any], space: Any) -> Any:
    """Say where a parameter's values come from. The start's own value may lie outside of what was searched."""
    if isinstance(space, list) or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in column):
        values = [*(space if isinstance(space, list) else ()), *column]
        return kinds.CategoricalDistribution(tuple(dict.fromkeys(map(value_text, values))))
    ends = [*map(float, column), *(float(space[end]) for end in ("low", "high") if space)]
    return kinds.FloatDistribution(min(ends), max(ends), log=bool(space and space.get("log")) and min(ends) > 0)
