"""Seconds as records say them."""

from __future__ import annotations

import time

from programs.elapsed import elapsed


def test_a_clock_that_was_set_back_took_no_time_and_never_less(monkeypatch):
    assert elapsed(3.0, 5.0) == 2.0
    assert elapsed(5.0, 3.0) == 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: -1e9)
    assert elapsed(0.0) == 0.0
