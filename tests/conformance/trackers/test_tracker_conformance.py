"""What holds for every tracker, whether it is told of a run or of a search."""

from __future__ import annotations

import sys

import pytest

from optimize.tracking import open_search_tracker
from programs.errors import InputError
from programs.report.tracking import open_tracker


@pytest.fixture(params=[open_tracker, open_search_tracker], ids=["run", "search"])
def opener(request):
    return request.param


def test_an_unknown_tracker_is_said(opener, tmp_path):
    with pytest.raises(InputError, match="no tracker is called 'mlflow'; there is wandb"):
        opener("mlflow", tmp_path)


def test_without_wandb_the_extra_is_named(opener, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match=r"staterag\[tracking\]"):
        opener("wandb", tmp_path)


def test_a_mode_that_wandb_does_not_know_is_said(opener, home, monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "sometimes")
    with pytest.raises(InputError, match="WANDB_MODE is 'sometimes'; W&B knows online"):
        opener("wandb", tmp_path / "run").begin({"preset": "tiny"})
