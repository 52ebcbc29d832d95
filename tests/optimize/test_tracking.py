"""Tracking of a search: a real offline run of W&B, a step a trial, inside the search's folder."""

from __future__ import annotations

import json
import os

import pytest

from optimize.search_page import write_page
from optimize.tracking import NoSearchTracker, open_search_tracker
from tests.optimize.searches import ABOUT, line, trials, write


def test_no_tracker_is_the_default_and_does_nothing(tmp_path):
    tracker = open_search_tracker(None, tmp_path)
    assert isinstance(tracker, NoSearchTracker)
    tracker.begin(ABOUT)
    tracker.trial(line(0))
    tracker.finish([])
    assert list(tmp_path.iterdir()) == []


def test_an_offline_run_has_every_trial_once_the_chosen_parameters_and_the_figure(home, tmp_path, capfd):
    folder = tmp_path / "search"
    rows = trials(12)
    page = write_page(write(folder, rows), ABOUT, rows, ["said"])
    before = dict(os.environ)
    tracker = open_search_tracker("wandb", folder)
    tracker.begin(ABOUT)
    for row in rows:
        tracker.trial(row | {"chosen": False})
    [chosen] = [row for row in rows if row["chosen"]]
    tracker.trial(chosen)
    tracker.finish([*page, folder / "trials.jsonl"])

    [run] = (folder / "wandb").glob("offline-run-*")
    [found] = run.rglob("*.table.json")
    content = json.loads(found.read_text())
    cells = [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]
    assert [(cell["number"], cell["state"]) for cell in cells] == [(row["number"], row["state"]) for row in rows]
    assert [cell["number"] for cell in cells if cell["chosen"]] == [chosen["number"]]
    assert cells[0]["lifecycle.carry"] in ("true", "false")
    assert cells[0]["navigation.beam"] == rows[0]["parameters"]["navigation.beam"]
    log = b"".join(path.read_bytes() for path in run.glob("*.wandb"))
    for part in (b"parameters/navigation.paths", b"longbench/hotpotqa/quality", b"search.html", b"verifier.threshold"):
        assert part in log
    assert list(home.rglob("*")) == []
    assert dict(os.environ) == before
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_tracker_that_was_not_begun_is_no_tracker(home, tmp_path):
    with pytest.raises(RuntimeError, match="not begun"):
        open_search_tracker("wandb", tmp_path).trial(line(0))
