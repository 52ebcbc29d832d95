"""Averages over tasks of many metrics at once are those of `metrics.significance`, one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from metrics.macros import macro_intervals, macro_pairs
from metrics.significance import macro_interval, macro_paired


def task(seed: int, n: int, gaps: int = 0):
    rng = np.random.default_rng(seed)
    columns = {"whole": rng.random(n), "other": rng.random(n), "gappy": rng.random(n), "nowhere": np.full(n, np.nan)}
    columns["gappy"][:gaps] = np.nan
    return columns, [f"d{i // 3}" for i in range(n)]


TASKS = [task(1, 30), task(2, 21, gaps=4), task(3, 12)]


@pytest.mark.parametrize("metric", ["whole", "other", "gappy"])
def test_an_interval_is_the_one_of_the_metric_alone(metric):
    alone = macro_interval([(columns[metric], clusters) for columns, clusters in TASKS], resamples=500, seed=3)
    together = macro_intervals(TASKS, resamples=500, seed=3)[metric]
    assert dataclasses.astuple(together) == pytest.approx(dataclasses.astuple(alone))


@pytest.mark.parametrize("metric", ["whole", "gappy"])
def test_a_pair_is_the_one_of_the_metric_alone(metric):
    tasks = [(columns[metric] - 0.4, np.zeros(len(clusters)), clusters) for columns, clusters in TASKS]
    alone = macro_paired(tasks, resamples=500, seed=3)
    differences = [({name: values - 0.4 for name, values in columns.items()}, clusters) for columns, clusters in TASKS]
    together = macro_pairs(differences, resamples=500, seed=3)[metric]
    assert dataclasses.astuple(together) == pytest.approx(dataclasses.astuple(alone))


def test_a_metric_that_a_task_lacks_has_no_average():
    assert "nowhere" not in macro_intervals(TASKS, resamples=50)
    one_lacks = [TASKS[0], ({"whole": TASKS[1][0]["whole"]}, TASKS[1][1])]
    assert set(macro_intervals(one_lacks, resamples=50)) == {"whole"}


def test_a_task_of_one_document_leaves_the_bounds_open():
    single = ({"whole": np.array([0.2, 0.4])}, ["d", "d"])
    found = macro_intervals([TASKS[0], single], resamples=50)["whole"]
    assert np.isnan(found.low)
    assert np.isfinite(found.mean)
