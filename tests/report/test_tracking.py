"""Tracking: a real offline run of W&B inside its folder, and what happens without W&B."""

from __future__ import annotations

import json
import os
import sys
from types import ModuleType

import pytest

from metrics.record import QueryRecord
from programs.errors import InputError
from programs.report import tracking
from programs.report.tracking import NoTracker, RunningMeans, open_tracker
from tests.metrics.records import a_record

MANIFEST = {"preset": "tiny", "questions": {"workload": "own", "queries": [{"query_id": "q"}] * 3, "collections": {}}}


def record(number: int, method: str = "staterag", **changes) -> QueryRecord:
    return a_record(method=method, query_id=f"q{number}", question="Who?", **{"answer": "<b>Ada</b>"} | changes)


def test_no_tracker_is_the_default_and_does_nothing(tmp_path):
    tracker = open_tracker(None, tmp_path)
    assert isinstance(tracker, NoTracker)
    tracker.begin(MANIFEST)
    tracker.query(record(1), {"em": 1.0})
    tracker.finish({}, (), ())
    assert list(tmp_path.iterdir()) == []


def test_running_means_are_of_each_method_by_itself():
    means = RunningMeans()
    means.add("a", {"em": 1.0})
    assert means.add("b", {"em": 0.0}) == {"b/em": 0.0}
    assert means.add("a", {"em": 0.0, "f1": 0.5}) == {"a/em": 0.5, "a/f1": 0.5}


def test_an_offline_run_holds_config_queries_figures_and_files_and_stays_in_its_folder(
    home, tmp_path, capfd, monkeypatch
):
    from PIL import Image

    monkeypatch.setitem(sys.modules, "mistral", ModuleType("mistral"))  # W&B advertises to users of such libraries

    folder = tmp_path / "run"
    folder.mkdir()
    figure, vector, manifest = folder / "f.png", folder / "f.svg", folder / "manifest.json"
    Image.new("RGB", (4, 4)).save(figure)
    vector.write_text("<svg/>")
    manifest.write_text(json.dumps(MANIFEST))
    tracker = open_tracker("wandb", folder)
    tracker.begin(MANIFEST)
    tracker.query(record(1), {"em": 1.0, "latency": 2.0})
    tracker.query(record(2, action=None, status="incomplete"), {"em": 0.0})
    tracker.finish({"methods": {"staterag": {"records": 2}}}, [figure, vector], [manifest])

    [run] = (folder / "wandb").glob("offline-run-*")
    [table] = run.rglob("*.table.json")
    content = json.loads(table.read_text())
    assert content["columns"][:6] == ["method", "query_id", "question", "answer", "status", "action"]
    rows = [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]
    assert [(row["answer"], row["action"], row["em"]) for row in rows] == [
        ("<b>Ada</b>", "RELEASE", 1.0),
        ("<b>Ada</b>", "", 0.0),
    ]
    assert rows[1]["latency"] is None
    assert len(list(run.rglob("*.png"))) == 1
    log = b"".join(path.read_bytes() for path in run.glob("*.wandb"))
    for part in (b"staterag/em", b"manifest.json", b"f.svg", b"tiny"):
        assert part in log
    assert list(home.rglob("*")) == []
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_run_that_is_over_leaves_the_environment_as_it_was(home, tmp_path):
    before = dict(os.environ)
    tracker = open_tracker("wandb", tmp_path / "run", name="n", project="p")
    tracker.begin(MANIFEST)
    tracker.finish({}, (), ())
    assert dict(os.environ) == before
    with pytest.raises(RuntimeError, match="not begun, or is finished"):
        tracker.query(record(1), {})


def test_nobody_is_asked_to_log_in(home, monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "online")
    tracker = open_tracker("wandb", tmp_path / "run")
    monkeypatch.setattr(tracker._run.wandb, "login", lambda **options: options.get("prompt", True))
    with pytest.raises(InputError, match="WANDB_MODE is online, but W&B has no key"):
        tracker.begin(MANIFEST)


def test_a_folder_that_can_not_be_made_is_said(home, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match="the folder can't be made"):
        open_tracker("wandb", blocked / "run").begin(MANIFEST)


def test_the_config_has_sizes_in_place_of_long_lists():
    assert tracking._short(MANIFEST)["questions"] == {"workload": "own", "queries": 3, "collections": 0}
