"""The ledger's own arithmetic: what parts of a query that ran at once cost it together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.models.ledger import Ledger, Phase, together

SECONDS = st.lists(st.floats(0, 100), max_size=12)


@pytest.mark.parametrize(
    ("seconds", "lanes", "expected"),
    [([3, 1, 1, 1], 1, 6), ([3, 1, 1, 1], 2, 3), ([1, 1, 1, 3], 2, 4), ([2, 2], 4, 2), ([], 3, 0)],
)
def test_tasks_start_as_soon_as_a_lane_is_free(seconds, lanes, expected):
    assert together(seconds, lanes) == expected


@given(SECONDS, st.integers(1, 6))
def test_tasks_take_no_less_than_the_longest_and_no_more_than_one_after_another(seconds, lanes):
    took = together(seconds, lanes)
    assert max(seconds, default=0.0) - 1e-9 <= took <= sum(seconds) + 1e-9
    assert took >= sum(seconds) / lanes - 1e-9


def test_parts_that_ran_at_once_are_replayed_at_once_and_spared_one_by_one():
    parts = [Ledger("q") for _ in range(4)]
    for part in parts:
        part.replayed[Phase.INDEX], part.spared[Phase.INDEX], part.encoder_tokens = 10.0, 1.0, 5
    whole = Ledger("q")
    whole.absorb(*parts, lanes=2)
    assert (whole.replayed[Phase.INDEX], whole.replayed[Phase.AUX]) == (20.0, 0.0)
    assert (whole.spared[Phase.INDEX], whole.encoder_tokens) == (4.0, 20)
