"""Hours come from tokens and a rate."""

from __future__ import annotations

import pytest

from programs.errors import InputError
from programs.reproduce.hours import Rate, hours, measured_rate, stated_rate
from programs.runner.estimate import Estimate, Spread
from tests.support.runs import scripted_runtime


def test_a_rate_is_stated_as_tokens_read_and_written():
    assert stated_rate("2000,40") == Rate(2000, 40)


@pytest.mark.parametrize("said", ["2000", "a,b", "0,40", "-1,4", "nan,4", "inf,4", "1,2,3", ""])
def test_what_is_no_rate_is_an_error_that_shows_one(said):
    with pytest.raises(InputError, match="such as 2000,40"):
        stated_rate(said)


def test_a_measured_rate_is_of_both_models_asked_briefly():
    runtime = scripted_runtime(latency=0.001)
    rate = measured_rate(runtime)
    assert rate.read > 0
    assert rate.write > 0
    assert len(runtime.reader.engine.requests) == 3


def test_hours_are_tokens_by_the_rate_and_the_programs_own_work():
    spent = Estimate("m", 2, 1, Spread(1, 1), Spread(7200, 14400), Spread(0, 3600), None)
    found = hours(spent, Rate(1.0, 0.5), 3600)
    assert found == Spread(3.0, 7.0)
