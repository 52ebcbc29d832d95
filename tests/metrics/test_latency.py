"""Latency is the sum of its parts, for incomplete queries too."""

from metrics.latency import latency_scores
from tests.metrics.records import a_record, an_incomplete_record


def test_latency_is_index_and_online_together():
    assert latency_scores(a_record(latency={"index": 0.25, "online": 1.5})) == {
        "latency": 1.75,
        "latency_index": 0.25,
        "latency_online": 1.5,
    }


def test_an_incomplete_query_keeps_the_time_that_it_took():
    assert latency_scores(an_incomplete_record(latency={"index": 2.0, "online": 0.5}))["latency"] == 2.5
