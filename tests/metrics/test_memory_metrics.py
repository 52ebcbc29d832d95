"""The hit rate weighs reads and not queries."""

import math

import pytest

from metrics.memory import hit_rate, memory_scores
from tests.metrics.records import a_record


def test_a_querys_reads_and_hits_are_its_records():
    assert memory_scores(a_record(memory={"reads": 5, "hits": 2})) == {"memory_reads": 5, "memory_hits": 2}


def test_the_hit_rate_is_hits_over_reads():
    assert hit_rate(hits=3, reads=12) == pytest.approx(0.25)
    assert hit_rate(hits=0, reads=12) == 0.0


def test_memory_that_was_never_read_has_no_hit_rate():
    assert math.isnan(hit_rate(hits=0, reads=0))
