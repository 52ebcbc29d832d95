"""A whole query on a real model, a real encoder, a real cross-encoder and a real memory file."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from programs.methods.staterag.program import StateRAG
from programs.models.ledger import Phase
from programs.models.runtime import open_runtime
from programs.run import app
from programs.settings import load_settings
from programs.workloads.sample import load_sample
from tests.support.records import timeless

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def runtime():
    opened = open_runtime(load_settings("tiny", ["lifecycle.reader_tokens=16", "lifecycle.role_tokens=96"]))
    yield opened
    opened.close()


def records(runtime, path, count=2):
    sample = load_sample()
    with StateRAG(runtime, workload="sample", memory=path) as program:
        return [program.run(query) for query in sample.queries[:count]]


@pytest.fixture(scope="module")
def once(runtime, tmp_path_factory):
    return records(runtime, tmp_path_factory.mktemp("memory") / "global.sqlite")


def test_every_query_ends_completed_or_incomplete_with_its_reason(once):
    sources = load_sample().collection.texts
    for record in once:
        if record.status == "completed":
            assert record.action is not None
            assert record.evidence
            assert sum(call.phase is Phase.READER for call in record.calls) == 1
        else:
            assert record.rejections or record.error
        for item in record.evidence:
            assert sources[item.source_id][item.start : item.end] == item.text


def test_the_roles_really_asked_the_model(once):
    roles = {call.role for record in once for call in record.calls}
    assert "planner" in roles
    assert all(call.prompt_tokens > 0 and call.completion_tokens > 0 for record in once for call in record.calls)
    assert all(record.encoder_tokens > 0 for record in once)


def test_I5_a_second_run_in_the_same_order_gives_the_same_records(once, runtime, tmp_path):
    again = records(runtime, tmp_path / "global.sqlite")

    assert [timeless(r) for r in again] == [timeless(r) for r in once]


def test_an_evaluation_of_several_methods_on_real_models_is_compared_and_reported(tmp_path):
    common = ["--workload", "sample", "--limit", "2", "--preset", "tiny", "--set", "lifecycle.role_tokens=96"]
    short = ["--set", "lifecycle.reader_tokens=16", "--workers", "2", "--out", str(tmp_path / "run")]
    evaluated = CliRunner().invoke(app, ["eval", "--method", "vanilla,dosrag,staterag", *common, *short])
    assert evaluated.exit_code == 0, evaluated.output
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert [entry["records"] for entry in summary["methods"].values()] == [2, 2, 2]
    assert summary["methods"]["vanilla"]["metrics"]["source_recall"]["mean"] > 0
    assert CliRunner().invoke(app, ["compare", str(tmp_path / "run")]).exit_code == 0
    reported = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "--out", str(tmp_path / "report")])
    assert reported.exit_code == 0, reported.output
    assert "StateRAG" in (tmp_path / "report/tables.csv").read_text()
