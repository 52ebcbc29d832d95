"""`funnel` as a person meets it, on runs of scripted models whose gold is known."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from metrics.scores import ScoreTable
from programs import run
from programs.commands.funnel import load_funnels
from programs.report.runs import Unfinished
from programs.runner.evaluate import evaluate
from programs.runner.evaluation import Evaluation
from programs.runner.folder import RunFolder
from programs.selection.configured import ConfiguredMethod
from programs.workloads.query import Example, GoldPassage
from programs.workloads.registry import Workload
from tests.support.records import sealed_row
from tests.support.runs import ASKS_MODELS, make_workload, scripted_runtime
from tests.support.worlds import small_settings

runner = CliRunner()
QUERIES = 16


def with_gold(example: Example, position: int) -> Example:
    """Need the opening of two notes of the collection."""
    sources = example.query.collection.sources
    passages = tuple(
        (GoldPassage(source_id=source.source_id, title=source.text[:7], start=0, end=60),)
        for source in (sources[position % 4], sources[position % 3 + 1])
    )
    kind = ("bridge", "comparison")[position % 2]
    changes = {"passages": passages, "question_type": kind, "answers": ("the answer",)}
    return Example(query=example.query, reference=example.reference.model_copy(update=changes))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with a reader and one without, both of StateRAG and of Vanilla RAG."""
    made = make_workload(QUERIES, 4, name="aviary")
    examples = tuple(with_gold(example, at) for at, example in enumerate(made.examples))
    workload = Workload(name="aviary", split="dev", files=(), examples=examples)
    folders = []
    for name, answer in (("read", True), ("silent", False)):
        settings = small_settings(**ASKS_MODELS, lifecycle={"answer": answer, "reader_budget": 40})
        evaluation = Evaluation(
            workload, (ConfiguredMethod("vanilla", settings), ConfiguredMethod("staterag", settings))
        )
        folders.append(tmp_path_factory.mktemp("runs") / name)
        evaluate(evaluation, evaluation.manifest(), scripted_runtime(settings), folders[-1])
    return folders


def funnel(*arguments):
    return runner.invoke(run.app, ["funnel", *map(str, arguments)])


def test_a_run_prints_its_funnel_its_verdicts_and_its_last_step(runs):
    result = funnel(runs[0])
    assert result.exit_code == 0, result.output
    for part in ("Where gold evidence is lost", "Verdicts against sufficiency", "The last step", "StateRAG, aviary"):
        assert part in result.stdout
    for part in ("bridge", "comparison", "Reached", "Candidates", "Kept", "Carried", "Admitted", "cycle 2"):
        assert part in result.stdout


def test_every_stage_of_a_whole_run_is_there_and_the_last_is_its_recall(runs):
    plain, staterag = load_funnels([runs[0]], None, "half")
    assert plain.stages == ("gold", "completed", "admitted")
    assert len(staterag.stages) == 7
    counts = [staterag.whole.survivors(stage) for stage in staterag.stages]
    assert counts == sorted(counts, reverse=True)
    assert 2 * QUERIES == counts[0] > counts[-1] > 0
    folder = RunFolder(runs[0])
    references = folder.references()
    pairs = [(r, references[r.query_id]) for r in folder.records() if r.method == "staterag"]
    recall = ScoreTable.collect("staterag", "aviary", pairs).mean("passage_recall")
    assert counts[-1] / counts[0] == pytest.approx(recall)  # every query has two gold passages


def test_answers_that_nobody_was_asked_for_are_not_judged(runs):
    result = funnel(runs[1])
    assert result.exit_code == 0, result.output
    assert "The last step" not in result.stdout
    assert "Verdicts against sufficiency" in result.stdout


def test_one_method_and_another_rule_can_be_chosen(runs):
    result = funnel(runs[0], "--method", "vanilla", "--by", "title")
    assert result.exit_code == 0, result.output
    assert "whole title line" in result.stdout
    assert "Vanilla RAG" in result.stdout
    assert "StateRAG" not in result.stdout


def test_a_method_of_several_runs_is_named_by_its_run_too(runs):
    result = funnel(*runs, "--method", "staterag")
    assert result.exit_code == 0, result.output
    assert "StateRAG (read), aviary" in result.stdout
    assert "StateRAG (silent), aviary" in result.stdout


def test_out_writes_tables_and_a_picture(runs, tmp_path):
    result = funnel(runs[0], "--out", tmp_path / "a" / "b")
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == [
        "funnel.csv",
        "funnel.md",
        "funnel.png",
        "funnel.svg",
    ]
    with (tmp_path / "a" / "b" / "funnel.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == "funnel" and row["row"] == "all"]
    assert {row["value"] for row in rows if row["column"] == "gold"} == {str(float(2 * QUERIES))}


def test_a_run_that_has_not_ended_is_counted_with_a_warning(runs, tmp_path):
    for name in ("manifest.json", "references.jsonl"):
        (tmp_path / name).write_bytes((runs[0] / name).read_bytes())
    lines = (runs[0] / "records.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "records.jsonl").write_bytes(b"".join(lines[:3]))
    with pytest.warns(Unfinished, match="3 of 16"):
        [found] = load_funnels([tmp_path], ["vanilla"], "half")
    assert len(found) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{run}", "--by", "mention"], "half or title"),
        (["{run}", "--method", "nope"], "these runs have vanilla, staterag"),
        (["{run}", "{run}"], "named twice"),
        (["{run}", "--out", "{file}"], "--out"),
        (["{empty}"], "manifest.json"),
    ],
    ids=["rule", "method", "twice", "out", "no run"],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(runs, tmp_path, arguments, said):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    places = {"run": runs[0], "file": tmp_path / "file", "empty": tmp_path / "empty"}
    result = funnel(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, rows[0]], "two records of"),
        (lambda rows: [rows[0] | {"query_id": "other"}], "does not have"),
        (lambda rows: [rows[0] | {"considered": [{"cycle": 1, "role": "navigator", "evidence_ids": ["x"]}]}], "'x'"),
        (lambda rows: [], "no records yet"),
    ],
    ids=["twice", "unknown", "no id", "none"],
)
def test_a_run_that_was_changed_is_said_clearly(runs, tmp_path, change, said):
    for name in ("manifest.json", "references.jsonl"):
        (tmp_path / name).write_bytes((runs[0] / name).read_bytes())
    rows = [json.loads(line) for line in (runs[0] / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    (tmp_path / "records.jsonl").write_bytes(b"".join(map(sealed_row, change(rows))))
    result = funnel(tmp_path)
    assert result.exit_code == 2, result.output
    assert said in result.stderr


def test_a_workload_that_names_no_gold_has_no_funnel(tmp_path):
    settings = small_settings(**ASKS_MODELS)
    evaluation = Evaluation(make_workload(2), (ConfiguredMethod("vanilla", settings),))
    evaluate(evaluation, evaluation.manifest(), scripted_runtime(settings), tmp_path / "run")
    result = funnel(tmp_path / "run")
    assert result.exit_code == 2
    assert "gold" in result.stderr
