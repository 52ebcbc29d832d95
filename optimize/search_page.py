"""A search as one page that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

from collections import Counter
from xml.etree.ElementTree import Element

from pydantic import JsonValue

from optimize.importance import FANOVA, FEWEST, Importance
from optimize.page_parts import Content, code, element, page, table
from optimize.search_record import Objectives, SearchRecord, Span, TrialRecord, front, metric_label, value_text
from programs.report.console import snippet
from programs.report.names import method_label, workload_label

BEST, REASONS = 20, 10
"""Rows of the tables of trials and of faults. All are in the search's folder."""
NOTHING = "–"
HOW = {
    FANOVA: "fANOVA, as Optuna computes it: a forest is fitted to the trials, and a parameter's share is what it "
    "explains of the forest's variance by itself.",
    None: f"Too few trials to tell: {FEWEST} must be complete.",
}
RANKED = (
    "Squared rank correlations, shared out: they see only what rises or falls with a parameter. "
    "With Optuna and scikit-learn it would be fANOVA."
)


def search_page(search: SearchRecord, importance: Importance, title: str, svg: str) -> str:
    """Write the page, with the figure in it; `title` says in a line what the search was."""
    heading = f"{method_label(search.about.method)}: search for parameters"
    before = [element("h1", heading), element("p", title, kind="soft"), *_outcome(search)]
    after = [
        *_changes(search),
        *_best(search),
        *_failed(search),
        *_importance(search, importance),
        *_space(search),
    ]
    return page(heading, before, svg, title, after)


def _outcome(search: SearchRecord) -> list[Element]:
    """Say what was chosen and by which rule, with what it gives beside what the start gives."""
    about, chosen = search.about, search.chosen
    aim = f"{metric_label(about.quality)} is to be high, {metric_label(about.cost)} low."
    if chosen is None:
        said = "Nothing is chosen: the search is under way, or no trial was measured on all questions."
        return [element("p", aim), element("p", said)]
    choice = "the start as it is" if chosen.number == 0 else f"trial {chosen.number}"
    paragraphs = [element("p", "Chosen: ", element("strong", choice), f". {aim}")]
    if about.rule:
        paragraphs.append(element("p", f"Rule: {about.rule}"))
    compared = {"start": search.start, "chosen": chosen}
    places = ["all", *search.workloads]
    heads = ["", *(f"{workload_label(place)}: {label}" for place in places for label in _labels(search))]
    rows: list[list[Content]] = [
        [name, *(text for place in places for text in _measured(_at(trial, place)))]
        for name, trial in compared.items()
        if trial is not None
    ]
    return [*paragraphs, table(heads, rows, range(1, len(heads)))]


def _changes(search: SearchRecord) -> list[Element]:
    """Tabulate the settings that the choice changes."""
    changed = search.differences(search.chosen) if search.chosen else {}
    first = search.trials[0]
    if not changed or first.number != 0:
        return []
    rows = [[code(key), code(_shown(first.parameters.get(key))), code(_shown(changed[key]))] for key in changed]
    return [element("h2", "What the choice changes"), table(["setting", "start", "chosen"], rows, range(0))]


def _best(search: SearchRecord) -> list[Element]:
    """Tabulate the best trials."""
    ranked = search.ranked[:BEST]
    if not ranked:
        return [element("p", "No trial was measured on all questions, so none can be compared with another.")]
    quality, cost = _labels(search)
    heads = ["trial", quality, cost, *(f"{workload_label(name)}: {quality}" for name in search.workloads), "seconds"]
    rows: list[list[Content]] = [
        [
            str(trial.number),
            *_measured(trial),
            *(_fraction(_at(trial, name).quality) for name in search.workloads),
            _amount(trial.seconds),
            element("span", *_notes(search, trial)),
        ]
        for trial in ranked
    ]
    marked = next((at for at, trial in enumerate(ranked) if trial.chosen), None)
    said = f"The best {len(ranked)} of {len(search.complete):,} that were measured on all questions."
    listed = table([*heads, "against the start"], rows, range(len(heads)), marked)
    return [element("h2", "Best trials"), element("p", said, kind="soft"), listed]


def _notes(search: SearchRecord, trial: TrialRecord) -> list[Content]:
    """Say what a trial is, and what it changes."""
    edge = front(search.complete)
    names = {"chosen": trial.chosen, "the start": trial.number == 0, "not beaten in both": trial in edge}
    said = "".join(f"{name}; " for name, holds in names.items() if holds)
    changes = ", ".join(f"{key} = {value_text(value)}" for key, value in search.differences(trial).items())
    return [said, code(changes)] if changes and trial.number else [said.removesuffix("; ")]


def _failed(search: SearchRecord) -> list[Element]:
    """Tabulate why trials failed, the most frequent reasons first."""
    reasons = Counter(trial.error or "no reason is known" for trial in search.trials if trial.state == "failed")
    if not reasons:
        return []
    rows: list[list[Content]] = [
        [f"{count:,}", code(snippet(reason))] for reason, count in reasons.most_common(REASONS)
    ]
    return [element("h2", "Why trials failed"), table(["trials", "reason"], rows, range(1))]


def _importance(search: SearchRecord, importance: Importance) -> list[Element]:
    """Tabulate how much each parameter matters, and say how that was measured."""
    how = HOW.get(importance.measure, RANKED)
    head = element("h2", "Which parameters matter")
    if importance.measure is None:
        return [head, element("p", how, kind="soft")]
    among = f"{importance.trials} of the {len(search.complete):,} complete trials, evenly taken"
    every = f"the {importance.trials} complete trials"
    trials = among if importance.trials < len(search.complete) else every
    rows: list[list[Content]] = [
        [code(key), *(f"{shares.get(key, 0.0):.0%}" for shares in (importance.quality, importance.cost))]
        for key in importance.order
    ]
    shares = table(["setting", *(f"for {label}" for label in _labels(search))], rows, range(1, 3))
    return [head, element("p", f"{how} Measured on {trials}.", kind="soft"), shares]


def _space(search: SearchRecord) -> list[Element]:
    """Tabulate what was searched."""
    rows = [[code(key), code(_range(space))] for key, space in search.about.space.items()]
    return [element("h2", "What was searched"), table(["setting", "values"], rows, range(0))] if rows else []


def _range(space: list[JsonValue] | Span) -> str:
    if isinstance(space, list):
        return ", ".join(value_text(value) for value in space)
    step = f", in steps of {space.step:g}" if space.step else ""
    return f"{space.low:g} to {space.high:g}{step}{', by its logarithm' if space.log else ''}"


def _at(trial: TrialRecord, place: str) -> Objectives:
    """Give what a trial has on a workload, or on all of them."""
    return trial.by_workload.get(place, Objectives()) if place != "all" else trial


def _labels(search: SearchRecord) -> list[str]:
    return [metric_label(search.about.quality), metric_label(search.about.cost)]


def _measured(found: Objectives) -> list[str]:
    return [_fraction(found.quality), _amount(found.cost)]


def _shown(value: JsonValue) -> str:
    return NOTHING if value is None else value_text(value)


def _fraction(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _amount(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
