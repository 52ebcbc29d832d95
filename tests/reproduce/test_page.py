"""The first page says what the findings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs.reproduce.findings import findings, passing
from programs.reproduce.page import CONTROL_PASSES, NONE_PASSES, PASSES, Account, first_page
from programs.settings import load_settings
from programs.workloads.manifest import DevManifest, MethodEntry, QuestionSet
from tests.report.conftest import make


def manifest():
    settings = load_settings("tiny")
    entry = MethodEntry(name="staterag", settings=settings.model_dump(mode="json"), settings_digest=settings.digest)
    questions = QuestionSet(workload="sample", split="dev", files={}, queries=(), collections={}, references="")
    return DevManifest(
        questions=questions,
        preset="tiny",
        methods=(entry,),
        models=(),
        packages={},
        python="3",
        machine="m",
        git=None,
        created="",
    )


def page(*scored, **more):
    account = {"incomplete": (), "left_out": {}} | more
    return first_page(Account(manifest(), scored, findings(scored), passing(scored), **account))


def scored(method, value, n=40):
    fixed = dict.fromkeys(("f1", "anls", "passage_recall"), value) | dict.fromkeys(
        ("em", "accuracy"), float(value > 0.5)
    )
    return make(method, "sample", n, **fixed)


def section(text, title):
    return text.split(f"## {title}\n")[1].split("\n## ")[0] if f"## {title}\n" in text else ""


def test_a_baseline_that_passes_staterag_is_said_before_anything_else():
    text = page(scored("staterag", 0.4), scored("vanilla", 0.9))
    assert text.index(PASSES) < text.index("## What")
    assert "Vanilla RAG on sample: EM +1.000" in text
    assert "(shown)" in text


def test_a_control_is_not_called_a_baseline():
    assert CONTROL_PASSES in page(scored("staterag", 0.4), scored("flat-fusion", 0.9))


def test_where_no_baseline_ran_nothing_is_said_of_them():
    text = page(scored("staterag", 0.9), scored("staterag-typed", 0.1))
    assert NONE_PASSES not in text


def test_that_nothing_passes_is_said_too():
    text = page(scored("staterag", 0.9), scored("vanilla", 0.1))
    assert NONE_PASSES in text
    assert "StateRAG scores best of all methods: on sample by the means in 3 of 3, shown in 3" in section(
        text, "What held"
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "n", "title"),
    [
        (0.9, 0.1, 40, "What held"),
        (0.9, 0.1, 3, "What the means say, and nothing shows"),
        (0.1, 0.9, 40, "What did not hold"),
        (0.4, 0.4, 40, "What did not hold"),
    ],
)
def test_a_claim_stands_where_the_rule_puts_it(ours, theirs, n, title):
    text = page(scored("staterag", ours, n), scored("staterag-without-tam", theirs, n))
    assert "StateRAG scores better than without TAM" in section(text, title)


def test_what_was_not_run_left_out_or_incomplete_is_said():
    text = page(
        scored("staterag", 0.5),
        incomplete=["sample: staterag: 1 of 40 queries incomplete"],
        left_out={"raptor": "raptor needs umap"},
        missing=["sample vanilla"],
    )
    assert "1 of 40 queries incomplete" in section(text, "Incomplete queries")
    assert "raptor needs umap" in section(text, "Left out")
    assert "sample vanilla" in section(text, "Not run yet")
    assert "StateRAG's macro averages exceed ReAct's: these methods were not run" in section(
        text, "What was not measured"
    )


def test_figures_are_shown_and_other_files_are_named():
    files = [Path("report/differences.png"), Path("report/tables.md"), Path("report/trace.md")]
    text = page(scored("staterag", 0.5), files=files)
    assert "](report/differences.png)" in text
    assert "[tables.md](report/tables.md)" in text
