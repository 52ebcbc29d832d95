"""Measuring: the records of a method on development questions, what they are worth, and at whose cost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from metrics.scores import score
from metrics.significance import macro_interval
from optimize.measure import MACRO, EngineFault, evidence_tokens, measure
from optimize.shared_indexes import SharedIndexes
from programs.selection.configured import ConfiguredMethod
from tests.optimize.parameter_world import make_examples
from tests.support.dying import refuse
from tests.support.runs import ASKS_MODELS, make_workload, scripted_runtime, without_times
from tests.support.worlds import small_settings


def plain(record):
    """All but times, and what is counted of whoever builds an index."""
    return without_times(record.model_dump(mode="json", exclude={"memory", "parse_failures"}))


@pytest.fixture(scope="module")
def examples():
    return make_workload(queries=12, collections=4).examples


@pytest.fixture(scope="module")
def measured(examples):
    return measure(ConfiguredMethod("staterag", small_settings(**ASKS_MODELS)), scripted_runtime(), examples)


def test_each_record_is_scored_in_the_questions_order(examples, measured):
    assert [record.query_id for record in measured.records] == [example.query.query_id for example in examples]
    for record, example, scores in zip(measured.records, examples, measured.scores, strict=True):
        assert scores == score(record, example.reference)


def test_a_measurement_does_not_hang_on_the_order_of_the_questions(examples, measured):
    turned = list(reversed(examples))
    shared = SharedIndexes(examples)  # who pays for an index is then the same
    configured = ConfiguredMethod("staterag", small_settings(**ASKS_MODELS))
    again = measure(configured, scripted_runtime(), turned, indexes=shared.trial(configured))
    first = {record.query_id: plain(record) for record in measured.records}
    assert {record.query_id: plain(record) for record in again.records} == first


def test_global_memory_is_cleared_whatever_the_settings_say(measured):
    assert sum(record.memory.hits for record in measured.records) == 0


@pytest.mark.parametrize("method", ["staterag", "hipporag2"])
def test_several_at_once_give_the_records_of_one_after_another(examples, method):
    configured = ConfiguredMethod(method, small_settings(**ASKS_MODELS))
    one, many = (measure(configured, scripted_runtime(latency=0.001), examples, workers=n) for n in (1, 4))
    assert [plain(record) for record in many.records] == [plain(record) for record in one.records]


def test_evidence_that_no_reader_reads_counts_as_what_it_would_have_read(examples):
    settings = small_settings(lifecycle={"answer": False})
    runtime = scripted_runtime(settings)
    found = measure(ConfiguredMethod("vanilla", settings), runtime, examples[:3])
    expected = [evidence_tokens(record, runtime.encoder) for record in found.records]
    assert min(expected) > 0
    assert found.values("ret").tolist() == found.values("tokens_reader").tolist() == expected
    assert [scores["ret"] for scores in found.scores] == [0, 0, 0]
    assert found.values("tokens_aux").tolist() == [0, 0, 0]


def test_where_the_reader_was_asked_nothing_is_added(measured):
    assert set(measured.unread) == {0}
    assert measured.values("ret").tolist() == [scores["ret"] for scores in measured.scores]


def test_the_mean_of_all_is_the_mean_of_the_workloads_means():
    examples = make_examples(5, ("a", "b"))  # three questions of a, two of b
    found = measure(ConfiguredMethod("vanilla", small_settings()), scripted_runtime(), examples)
    values = found.values("latency_online")
    first, second = values[[0, 2, 4]], values[[1, 3]]
    assert found.workloads == ("a", "b")
    assert found.mean("latency_online", "a") == pytest.approx(first.mean())
    assert found.mean("latency_online") == pytest.approx((first.mean() + second.mean()) / 2)
    interval = found.interval("latency_online")
    assert interval == macro_interval([(first, None), (second, None)])
    assert found.interval("latency_online", "b").n == 2


def test_many_intervals_at_once_are_those_of_each_alone_and_undefined_metrics_are_left_out(measured):
    names = ["f1", "em", "ret", "title_mention", "calls"]
    for workload in (MACRO, *measured.workloads):
        many = measured.intervals(names, workload)
        assert many == {name: measured.interval(name, workload) for name in names if name != "title_mention"}
    assert math.isnan(measured.mean("title_mention"))


def test_a_metric_that_one_workload_lacks_is_told_of_the_others():
    examples = make_examples(6, ("a", "b"))
    without = [
        example.model_copy(update={"reference": example.reference.model_copy(update={"answers": ()})})
        if example.workload == "b"
        else example
        for example in examples
    ]
    found = measure(ConfiguredMethod("vanilla", small_settings()), scripted_runtime(), without)
    assert found.intervals(["f1", "ret"])["f1"] == found.interval("f1", "a")
    assert found.intervals(["f1", "ret"])["ret"].tasks == 2


def test_a_comparison_is_question_by_question_and_turns_its_sign_when_turned(examples, measured):
    other = measure(ConfiguredMethod("vanilla", small_settings()), scripted_runtime(), examples)
    there, back = measured.against(other, "ret"), other.against(measured, "ret")
    assert there.difference == pytest.approx(measured.mean("ret") - other.mean("ret"))
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_two_parts_are_joined_in_the_questions_order(examples, measured):
    configured = ConfiguredMethod("vanilla", small_settings())
    shared = SharedIndexes(examples)
    whole = measure(configured, scripted_runtime(), examples)
    even, odd = (
        measure(configured, scripted_runtime(), examples[at::2], indexes=shared.trial(configured)) for at in (0, 1)
    )
    joined = odd.joined(even)
    assert joined.examples == whole.examples
    assert np.array_equal(joined.values("f1"), whole.values("f1"))


def test_a_model_that_is_gone_ends_the_measurement(examples):
    with pytest.raises(EngineFault, match="connection refused"):
        measure(ConfiguredMethod("vanilla", small_settings()), scripted_runtime(script=refuse), examples)


def test_progress_is_told_from_none_to_all(examples):
    told = []
    configured = ConfiguredMethod("vanilla", small_settings())
    measure(configured, scripted_runtime(), examples[:4], listener=lambda done, total: told.append((done, total)))
    assert told == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
