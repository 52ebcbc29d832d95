"""Indexes that trials share: found instead of built, at the same price to the same query."""

from __future__ import annotations

import pytest

from optimize import shared_indexes
from optimize.measure import measure
from optimize.shared_indexes import SharedIndexes
from programs.selection.configured import ConfiguredMethod
from tests.support.runs import ASKS_MODELS, make_workload, scripted_runtime, without_times
from tests.support.worlds import small_settings

METHODS = ("staterag", "vanilla", "hipporag2", "memorag", "graphrag")


def plain(record):
    return without_times(record.model_dump(mode="json", exclude={"memory", "parse_failures"}))


@pytest.fixture(scope="module")
def examples():
    return make_workload(queries=6, collections=3).examples


@pytest.mark.parametrize("method", METHODS)
def test_a_trial_that_finds_its_indexes_has_the_records_of_one_that_builds_them(examples, method):
    configured = ConfiguredMethod(method, small_settings(**ASKS_MODELS))
    shared = SharedIndexes(examples)
    runtime = scripted_runtime()
    built, found = (measure(configured, runtime, examples, indexes=shared.trial(configured)) for _ in range(2))
    alone = [configured.open(scripted_runtime(), "questions") for _ in examples]
    fresh = [program.run(example.query) for program, example in zip(alone, examples, strict=True)]
    assert [plain(record) for record in found.records] == [plain(record) for record in built.records]
    assert [record.evidence for record in found.records] == [record.evidence for record in fresh]
    assert [record.answer for record in found.records] == [record.answer for record in fresh]


@pytest.mark.parametrize("method", ["staterag", "hipporag2"])
def test_what_an_index_cost_is_paid_by_the_first_query_of_its_collection_alone(examples, method):
    configured = ConfiguredMethod(method, small_settings(**ASKS_MODELS))
    shared = SharedIndexes(examples)
    for order in (examples, examples[::-1], examples[3:]):
        found = measure(configured, scripted_runtime(), order, indexes=shared.trial(configured))
        paying = {record.position for record in found.records if record.tokens.index}
        assert paying <= {0, 1, 2}
        assert all(call.query_id == record.query_id for record in found.records for call in record.calls)
    assert {record.position for record in found.records} == {3, 4, 5}
    assert sum(record.tokens.index for record in found.records) == 0


def test_no_model_is_asked_for_an_index_that_is_found(examples):
    configured = ConfiguredMethod("hipporag2", small_settings(**ASKS_MODELS, lifecycle={"answer": False}))
    shared = SharedIndexes(examples)
    measure(configured, scripted_runtime(), examples, indexes=shared.trial(configured))
    runtime = scripted_runtime()
    found = measure(configured, runtime, examples, indexes=shared.trial(configured))
    charged = [call for record in found.records for call in record.calls]
    assert len([call for call in charged if call.phase == "index"]) > 0
    assert len(runtime.auxiliary.engine.requests) == len([call for call in charged if call.phase != "index"])


def test_an_index_of_other_settings_is_another_one_unless_they_are_online(examples):
    shared = SharedIndexes(examples, online=["vanilla.k"])
    few, many, long = (
        ConfiguredMethod("vanilla", small_settings(vanilla={"k": k}, tam={"region_tokens": tokens}))
        for k, tokens in ((1, 16), (3, 16), (1, 32))
    )
    built = []

    def find(configured):
        digest = examples[0].query.collection.digest
        return shared.trial(configured).get(digest, 0, lambda: built.append(configured) or object())

    assert find(few) is find(many) is find(few)
    assert find(long) is not find(few)
    assert built == [few, long]


def test_no_more_is_held_than_has_room_and_the_last_one_always_is(examples, monkeypatch):
    sizes = [sum(len(source.text) for source in e.query.collection.each()) for e in examples[:3]]
    monkeypatch.setattr(shared_indexes, "CHARACTERS", sizes[0] + sizes[1])
    shared = SharedIndexes(examples)
    trial = shared.trial(ConfiguredMethod("vanilla", small_settings()))
    built = []

    def get(at):
        return trial.get(examples[at].query.collection.digest, at, lambda: built.append(at) or object())

    first = get(0)
    get(1)
    assert get(0) is first
    get(2)
    get(1)
    assert built == [0, 1, 2, 1]
    monkeypatch.setattr(shared_indexes, "CHARACTERS", 1)
    small = SharedIndexes(examples).trial(ConfiguredMethod("vanilla", small_settings()))
    one = small.get(examples[0].query.collection.digest, 0, object)
    assert small.get(examples[0].query.collection.digest, 1, object) is one
