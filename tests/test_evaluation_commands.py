"""`eval`, `compare` and `report` as a person meets them."""

from __future__ import annotations

import json

import pytest
from rich.console import Console
from typer.testing import CliRunner

from metrics.record import QueryRecord
from programs import run
from programs.commands import evaluation
from tests.support.commands import check_refused, open_scripted
from tests.support.questions import write_own_questions
from tests.support.records import timeless
from tests.support.runs import scripted_runtime
from tests.support.scripts import RoleScript

runner = CliRunner()
CYCLES = ("--set", "lifecycle.bypass_leaves=0")
"""Has roles asked even where there is next to nothing to read."""


@pytest.fixture
def scripted(monkeypatch):
    return open_scripted(monkeypatch)


@pytest.fixture
def questions(tmp_path):
    """A file of a person's own questions with their contexts."""
    return write_own_questions(tmp_path, [(f"Which dome holds lens {i}?", "the dome") for i in range(4)])


def evaluate(*arguments):
    return runner.invoke(run.app, ["eval", "--preset", "tiny", *map(str, arguments)])


def test_eval_compare_and_report_work_together_from_a_persons_own_questions(scripted, questions, tmp_path):
    common = ("--workload", "own", "--questions", questions)
    first = evaluate("--method", "vanilla,vanilla-rerank", *common, "--out", tmp_path / "a")
    assert first.exit_code == 0, first.output
    assert "vanilla-rerank" in first.stdout
    second = evaluate("--method", "vanilla", *common, "--out", tmp_path / "b", "--set", "vanilla.k=1", "--workers", "2")
    assert second.exit_code == 0, second.output
    runs = [str(tmp_path / "a"), str(tmp_path / "b")]
    compared = runner.invoke(run.app, ["compare", *runs, "--metric", "f1", "--reference", "a/vanilla"])
    assert compared.exit_code == 0, compared.output
    assert "Holm" in compared.stdout
    reported = runner.invoke(run.app, ["report", *runs, "--out", str(tmp_path / "report")])
    assert reported.exit_code == 0, reported.output
    names = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"tables.md", "tables.tex", "tables.csv"} <= names
    assert any(name.endswith(".svg") for name in names)
    assert any(name.endswith(".png") for name in names)


def test_a_run_that_is_given_no_folder_goes_below_runs_and_its_report_into_it(
    scripted, questions, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions)
    done = evaluate(*arguments)
    assert done.exit_code == 0, done.output
    assert "runs/own-dev: dev run" in done.stdout
    reported = runner.invoke(run.app, ["report", "runs/own-dev"])
    assert reported.exit_code == 0, reported.output
    assert (tmp_path / "runs" / "own-dev" / "report" / "tables.md").is_file()
    assert evaluate(*arguments).exit_code == 2  # what is there is never written over
    assert evaluate(*arguments, "--resume").exit_code == 0


def test_an_evaluation_split_makes_a_locked_manifest_and_a_dev_split_does_not(scripted, questions, tmp_path):
    for split, kind in (("dev", "dev"), ("eval", "locked")):
        out = tmp_path / split
        arguments = ("--workload", "own", "--questions", questions, "--split", split, "--limit", 1)
        assert evaluate("--method", "vanilla", *arguments, "--out", out).exit_code == 0
        assert json.loads((out / "manifest.json").read_text())["kind"] == kind


def test_resume_goes_on_and_asks_nothing_twice(scripted, questions, tmp_path):
    arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions, "--out", tmp_path / "a")
    assert evaluate(*arguments).exit_code == 0
    records = tmp_path / "a/records.jsonl"
    whole = records.read_bytes()
    records.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    assert "not the records that summary.json was made from" in evaluate(*arguments, "--resume").stderr
    (tmp_path / "a/summary.json").unlink()
    assert evaluate(*arguments, "--resume").exit_code == 0
    assert scripted[-1].reader.engine.requests == []  # the journal still had what the lost records were made of
    assert records.read_bytes().count(b"\n") == 4


def test_kept_completions_are_charged_and_not_asked_for_again_and_a_locked_run_has_none(scripted, questions, tmp_path):
    common = ("--method", "vanilla", "--workload", "own", "--questions", questions)
    kept = ("--completions", tmp_path / "kept.sqlite")
    for out in ("a", "b"):
        done = evaluate(*common, *kept, "--out", tmp_path / out)
        assert done.exit_code == 0, done.output
    assert [len(runtime.reader.engine.requests) for runtime in scripted] == [4, 0]
    first, second = (
        [
            timeless(QueryRecord.model_validate_json(line))
            for line in (tmp_path / out / "records.jsonl").read_text().splitlines()
        ]
        for out in ("a", "b")
    )
    assert first == second
    refused = evaluate(*common, *kept, "--split", "eval", "--out", tmp_path / "c")
    assert refused.exit_code == 2
    assert "development runs" in refused.stderr


def test_ctrl_c_keeps_what_was_done_and_says_how_to_go_on(scripted, questions, tmp_path, monkeypatch):
    def interrupted(settings):
        count = [0]

        def script(request):
            count[0] += 1
            if count[0] > 2:
                raise KeyboardInterrupt
            return "the dome"

        return scripted_runtime(settings, script=script)

    arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions, "--out", tmp_path / "a")
    with monkeypatch.context() as patched:
        patched.setattr(run, "open_models", interrupted)
        result = evaluate(*arguments)
    assert result.exit_code == 130
    assert "--resume" in result.stderr
    assert (tmp_path / "a/records.jsonl").read_bytes().count(b"\n") == 2
    assert evaluate(*arguments, "--resume").exit_code == 0
    assert (tmp_path / "a/records.jsonl").read_bytes().count(b"\n") == 4


def test_an_estimate_prints_calls_and_tokens_and_writes_nothing(scripted, questions, tmp_path):
    arguments = ("--method", "vanilla,staterag", "--workload", "own", "--questions", questions)
    result = evaluate(*arguments, "--out", tmp_path / "a", "--estimate")
    assert result.exit_code == 0, result.output
    assert "staterag" in result.stdout
    assert scripted[-1].reader.engine.requests == []
    assert not (tmp_path / "a").exists()


def test_tracking_works_offline_without_an_account(scripted, questions, tmp_path):
    pytest.importorskip("wandb")
    arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions, "--limit", 2)
    result = evaluate(*arguments, "--out", tmp_path / "a", "--track", "wandb")
    assert result.exit_code == 0, result.output
    assert list((tmp_path / "a").rglob("*.wandb"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--method nope --workload sample", "no method 'nope'"),
        ("--method vanilla,vanilla --workload sample", "named twice"),
        ("--method vanilla --workload nope", "nope"),
        ("--method vanilla --workload longbench/hotpotqa", "--data"),
        ("--method vanilla --workload longbench/hotpotqa --data {empty}", "hotpotqa.dev.jsonl"),
        ("--method vanilla --workload sample --split test", "dev or eval"),
        ("--method vanilla --workload sample --limit 0", "limit"),
        ("--method vanilla --workload sample --workers 0", "--workers"),
        ("--method vanilla --workload own --questions {junk}", "junk"),
        ("--method vanilla --workload own --questions {leak} --split dev", "evaluation file"),
        ("--method vanilla --workload sample --compiled {empty}", "vanilla.json"),
        ("--method vanilla --workload sample --compiled {junk}", "not a compiled program"),
        ("--method vanilla --workload sample --track paper", "wandb"),
        ("--method vanilla --workload sample --set vanilla.k=0", "vanilla.k"),
        ("--method vanilla --workload sample --out {junk}/run", "--out"),
    ],
    ids=lambda value: str(value)[-50:],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(scripted, tmp_path, arguments, said):
    (tmp_path / "junk.jsonl").write_bytes(b"\x00\xff\x00")
    (tmp_path / "rows.eval.jsonl").write_text("{}\n")
    (tmp_path / "empty").mkdir()
    places = {"junk": tmp_path / "junk.jsonl", "empty": tmp_path / "empty", "leak": tmp_path / "rows.eval.jsonl"}
    given = [argument.format(**places) for argument in arguments.split()]
    if "--out" not in given:
        given += ["--out", str(tmp_path / "run")]
    check_refused(evaluate(*given), said)


@pytest.mark.parametrize("place", ["", "file"])
@pytest.mark.parametrize("command", ["compare", "report"])
def test_what_is_no_runs_folder_is_a_clear_error(tmp_path, command, place):
    (tmp_path / "file").write_text("")
    arguments = [command, str(tmp_path / place), *(["--out", str(tmp_path / "r")] if command == "report" else [])]
    result = runner.invoke(run.app, arguments)
    assert result.exit_code == 2
    assert "manifest.json" in result.stderr


def test_runs_on_other_questions_are_not_compared(scripted, questions, tmp_path):
    for name, limit in (("a", 2), ("b", 3)):
        arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions, "--limit", limit)
        assert evaluate(*arguments, "--out", tmp_path / name).exit_code == 0
    result = runner.invoke(run.app, ["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert result.exit_code == 2
    assert "same questions" in result.stderr


def test_runs_with_different_evidence_budgets_are_compared_with_a_warning(scripted, questions, tmp_path):
    for name, budget in (("a", 64), ("b", 32)):
        arguments = ("--method", "vanilla", "--workload", "own", "--questions", questions, "--out", tmp_path / name)
        assert evaluate(*arguments, "--set", f"lifecycle.reader_budget={budget}").exit_code == 0
    result = runner.invoke(run.app, ["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert result.exit_code == 0
    assert "different evidence budgets in tokens: a 64, b 32" in " ".join(result.stderr.split())


def scripted_as(monkeypatch, **answers):
    """Open models that answer so."""
    monkeypatch.setattr(run, "open_models", lambda settings: scripted_runtime(settings, script=RoleScript(**answers)))


def test_a_run_in_which_nothing_was_completed_says_why_at_its_end_and_exits_1(questions, tmp_path, monkeypatch):
    scripted_as(monkeypatch, planner="junk")
    arguments = ("--workload", "own", "--questions", questions, "--out", tmp_path / "a")
    result = evaluate("--method", "staterag", *arguments, *CYCLES)
    assert result.exit_code == 1, result.output
    said = " ".join(result.stderr.split())
    assert "staterag: 4 of 4 queries incomplete, because the planner's plan was rejected (malformed); " in said
    assert said.endswith("no query of this run was completed, so its scores say nothing of the methods")
    assert (tmp_path / "a" / "summary.json").is_file()
    again = evaluate("--method", "staterag", *arguments, *CYCLES, "--resume")
    assert again.exit_code == 1


def test_a_run_in_which_one_method_completed_something_exits_0_and_says_why_the_other_did_not(
    questions, tmp_path, monkeypatch
):
    scripted_as(monkeypatch, planner="junk")
    arguments = ("--workload", "own", "--questions", questions, "--out", tmp_path / "a")
    result = evaluate("--method", "vanilla,staterag", *arguments, *CYCLES)
    assert result.exit_code == 0, result.output
    assert "staterag: 4 of 4 queries incomplete" in result.stderr
    assert "vanilla: 4 of 4 queries" not in result.stderr
    assert "no query of this run" not in result.stderr


def test_a_runs_folder_is_named_as_text_whatever_it_is_called(scripted, questions, tmp_path):
    folder = tmp_path / "[red]=a|b$_\x1b[2J"
    common = ("--method", "vanilla", "--workload", "own", "--questions", questions)
    for out in (folder, tmp_path / "b"):
        assert evaluate(*common, "--out", out).exit_code == 0
    for arguments in (["report"], ["compare", "--metric", "f1"]):
        result = runner.invoke(run.app, [*arguments, str(folder), str(tmp_path / "b")])
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
        assert "[red]=a|b$_" in result.stdout
    assert r"\[red\]=a\|b\$\_" in (folder / "report" / "tables.md").read_text()


def test_a_fault_is_told_without_control_characters(scripted, tmp_path):
    result = runner.invoke(run.app, ["report", str(tmp_path / "no\x1b[2J")])
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr


def test_a_run_without_incomplete_queries_speaks_of_none(scripted, questions, tmp_path):
    result = evaluate(
        "--method", "vanilla", "--workload", "own", "--questions", questions, "--out", tmp_path / "[red]a[/red]"
    )
    assert result.exit_code == 0, result.output
    assert "incomplete," not in result.stderr
    assert "[red]a[/red]: dev run" in " ".join(result.stdout.split())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_what_a_run_and_an_estimate_end_with_fits_the_terminal(scripted, questions, tmp_path, monkeypatch, width):
    for module in (run, evaluation):
        monkeypatch.setattr(module, "out", Console(width=width))
    arguments = ("--method", "vanilla,staterag", "--workload", "own", "--questions", questions)
    for more in (("--estimate",), ("--out", tmp_path / "a")):
        result = evaluate(*arguments, *more)
        assert result.exit_code == 0, result.output
        table = [line for line in result.stdout.splitlines() if "│" in line or "┃" in line]
        assert table
        assert max(map(len, table)) <= width
        assert "…" not in "".join(table)
