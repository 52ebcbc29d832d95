"""Latency is the sum of its parts, for incomplete queries too."""

from metrics.latency import latency_scores
from tests.metrics.records import a_record, an_incomplete_record


def test_latency_is_index_and_online_together():
    assert latency_scores(a_record(latency={"index": 0.25, "online": 1.5})) == {
        "latency": 1.75,
        "latency_index": 0.25,
        "latency_online": 1.5,
        "latency_spared": 0.0,
    }


def test_an_incomplete_query_keeps_the_time_that_it_took():
    assert latency_scores(an_incomplete_record(latency={"index": 2.0, "online": 0.5}))["latency"] == 2.5


def test_what_a_cache_spared_counts_as_if_it_had_been_done():
    spared = {"index": 0.25, "online": 1.5, "spared_index": 4.0, "spared_online": 0.5}
    assert latency_scores(a_record(latency=spared)) == {
        "latency": 6.25,
        "latency_index": 4.25,
        "latency_online": 2.0,
        "latency_spared": 4.5,
    }
