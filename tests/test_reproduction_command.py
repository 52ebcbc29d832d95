"""`reproduce` as a person meets it, on scripted models."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from programs import run
from programs.reproduce.studies import STUDIES
from tests.support.commands import check_refused, open_scripted
from tests.support.runs import opinions, records_of, scripted_runtime

runner = CliRunner()
SMALL = ("--limit", "2", "--set", "tam.abstraction=lead")
CHEAP = "carriers,ablations,order"


@pytest.fixture
def scripted(monkeypatch):
    return open_scripted(monkeypatch)


def reproduce(folder, *arguments):
    return runner.invoke(run.app, ["reproduce", "--preset", "tiny", *SMALL, "--out", str(folder), *arguments])


def runs_in(folder):
    return {str(path.parent.relative_to(folder / "runs")): path.parent for path in folder.rglob("records.jsonl")}


def test_a_part_becomes_runs_tables_figures_and_a_page(scripted, tmp_path):
    done = reproduce(tmp_path, "--only", CHEAP)
    assert done.exit_code == 0, done.output
    assert "the sample's questions stand in" in " ".join(done.stderr.split())
    assert "sample/staterag.relaxed-order-4-at-once" in runs_in(tmp_path)
    report = {path.name for path in (tmp_path / "report").iterdir()}
    assert {"tables.md", "tables.tex", "tables.csv", "differences.svg", "funnel.md", "trace.md"} <= report
    page = (tmp_path / "README.md").read_text()
    assert "# Reproduction with the preset tiny" in page
    assert "The reader is admitted by the rules alone" in page
    assert "## Not run yet" in page
    tables = (tmp_path / "report" / "tables.md").read_text()
    for title in ("Component ablations", "Matched carrier control", "Strict and relaxed order of queries"):
        assert f"### {title}" in tables
    assert "HippoRAG2" not in tables  # what was not run has no row


def test_its_runs_are_ordinary_ones(scripted, tmp_path):
    assert reproduce(tmp_path, "--only", "carriers").exit_code == 0
    folders = [str(path) for path in runs_in(tmp_path).values()]
    compared = runner.invoke(run.app, ["compare", *folders, "--reference", "staterag-typed"])
    assert compared.exit_code == 0, compared.output
    assert all((path / "summary.json").is_file() for path in runs_in(tmp_path).values())


def test_every_part_fills_the_tables_that_it_names(scripted, tmp_path):
    done = reproduce(tmp_path)
    assert done.exit_code == 0, done.output
    lines = (tmp_path / "report" / "tables.csv").read_text().splitlines()[1:]
    made = {line.split(",")[0] for line in lines} | {path.stem for path in (tmp_path / "report").iterdir()}
    of_the_papers_workloads = {"longbench", "documents"}
    named = {name for study in STUDIES for name in study.fills}
    assert named - made <= of_the_papers_workloads
    assert "## Not run yet" not in (tmp_path / "README.md").read_text()


def test_another_part_adds_to_what_is_there_and_asks_nothing_twice(scripted, tmp_path):
    assert reproduce(tmp_path, "--only", "carriers").exit_code == 0
    before = {name: path.stat().st_mtime_ns for name, path in manifests(tmp_path)}
    added = reproduce(tmp_path, "--only", "carriers,contract", "--resume")
    assert added.exit_code == 0, added.output
    after = dict(manifests(tmp_path))
    assert {name: after[name].stat().st_mtime_ns for name in before} == before
    assert len(after) == len(before) + 2
    tables = (tmp_path / "report" / "tables.md").read_text()
    assert "### Matched carrier control" in tables
    assert "### The contract's elements apart" in tables


def manifests(folder):
    return [(name, path / "records.jsonl") for name, path in runs_in(folder).items()]


def test_one_that_is_stopped_and_taken_up_ends_as_one_that_was_not(scripted, tmp_path, monkeypatch):
    assert reproduce(tmp_path / "whole", "--only", "ablations").exit_code == 0
    stop = Counter()

    def interrupted(settings):
        def script(request):
            stop["calls"] += 1
            if stop["calls"] == 9:
                raise KeyboardInterrupt
            return opinions(request)

        return scripted_runtime(settings, script=script)

    with monkeypatch.context() as patched:
        patched.setattr(run, "open_models", interrupted)
        stopped = reproduce(tmp_path / "run", "--only", "ablations")
    assert stopped.exit_code == 130
    assert "--resume" in stopped.stderr
    check_refused(reproduce(tmp_path / "run", "--only", "ablations"), "already holds runs")
    assert reproduce(tmp_path / "run", "--only", "ablations", "--resume").exit_code == 0
    whole, taken_up = runs_in(tmp_path / "whole"), runs_in(tmp_path / "run")
    assert set(whole) == set(taken_up)
    for name, path in whole.items():
        assert records_of(taken_up[name]) == records_of(path)


def test_a_plan_names_every_run_with_tokens_and_hours_and_makes_none(scripted, tmp_path):
    planned = reproduce(tmp_path / "run", "--only", "carriers", "--plan")
    assert planned.exit_code == 0, planned.output
    said = " ".join(planned.stdout.split())
    assert "staterag-free-form" in said
    assert "2 runs" in said
    assert "as measured just now" in said
    assert not (tmp_path / "run").exists()
    assert len(scripted[-1].reader.engine.requests) == 3  # which is how the rate is measured


def test_a_plan_at_a_stated_rate_needs_no_model_server(tmp_path):
    served = [f"{part}.{key}" for part in ("reader", "auxiliary") for key in ("engine=server", "model=some-model")]
    changed = [argument for setting in served for argument in ("--set", setting)]
    planned = reproduce(tmp_path / "run", "--only", "carriers", "--plan", "--rate", "100,10", *changed)
    assert planned.exit_code == 0, planned.output
    assert "reading 100 and writing 10 tokens a second, as stated" in " ".join(planned.stdout.split())


def test_incomplete_queries_are_told_and_the_command_comes_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "open_models", lambda settings: scripted_runtime(settings, script=lambda request: "junk"))
    done = reproduce(tmp_path, "--only", "carriers", "--set", "lifecycle.bypass_leaves=0")
    assert done.exit_code == 1, done.output
    assert "no query of any run was completed" in " ".join(done.stderr.split())
    page = (tmp_path / "README.md").read_text()
    assert "staterag-typed: 2 of 2 queries incomplete" in page


def test_a_method_that_lacks_a_model_is_left_out_and_named(tmp_path, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr(run, "open_models", lambda settings: replace(scripted_runtime(settings), cross_encoder=None))
    settings = ("--set", "cross_encoder.engine=none", "--set", "retriever.ranker=embedding")
    done = reproduce(tmp_path, "--only", "ablations", *settings)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "README.md").read_text()
    assert "flat-fusion: flat-fusion ranks with a cross-encoder" in page
    assert "Flat fusion |" not in page
    assert not any("flat-fusion" in name for name in runs_in(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--only tables", "no part is called"),
        ("--data {nowhere}", "no such folder"),
        ("--split eval", "--data"),
        ("--split test", "dev or eval"),
        ("--limit 0", "limit of 0"),
        ("--workers 0", "--workers"),
        ("--plan --rate fast", "2000,40"),
        ("--preset none", "no preset"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(scripted, tmp_path, arguments, said):
    given = [argument.format(nowhere=tmp_path / "nowhere") for argument in arguments.split()]
    check_refused(reproduce(tmp_path / "run", *given), said)


def test_with_data_the_papers_values_stand_beside_ours(scripted, tmp_path):
    from tests.reproduce.test_planned import row
    from tests.workloads.files import write_rows

    for task in ("hotpotqa", "2wikimqa", "musique"):
        write_rows(tmp_path / "data" / "longbench" / f"{task}.jsonl", *map(row, range(3)))
    done = reproduce(tmp_path / "run", "--data", str(tmp_path / "data"), "--only", "carriers")
    assert done.exit_code == 0, done.output
    assert "left out: qasper" not in done.stderr  # no chosen part wants it
    manifest = json.loads((tmp_path / "run/runs/longbench-hotpotqa/staterag-typed/manifest.json").read_text())
    assert manifest["kind"] == "locked"
    tables = (tmp_path / "run" / "report" / "tables.md").read_text()
    assert "0.3197" in tables
    assert not (tmp_path / "run" / "completions.sqlite").exists()
