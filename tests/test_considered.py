"""What roles considered is in the record: whatever became of their proposals, and in records of before as nothing."""

from __future__ import annotations

import json

import pytest

from metrics.record import QueryRecord
from programs.methods.staterag.program import StateRAG
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.settings import NavigationSettings
from programs.state import NodeType, Role
from programs.tam.abstract import LeadAbstractor
from programs.tam.build import build_graph
from programs.tam.navigate import navigate
from programs.workloads.query import Query
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import RoleScript, fail
from tests.support.worlds import make_collection, make_world, small_settings

ASKS_MODELS = {
    "navigation": {"scorer": {"listwise": 1.0}, "paths": "target"},
    "retriever": {"ranker": "model"},
    "verifier": {"rule": "model"},
}


def ask(script: RoleScript | None = None, **branches) -> QueryRecord:
    settings = small_settings(**ASKS_MODELS | branches)
    model = LanguageModel(ScriptedEngine(script or RoleScript()))
    program = StateRAG(Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder()), workload="test")
    query = Query(query_id="q1", question="Which dome holds the lens?", collection=make_collection(), position=0)
    return program.run(query)


def said(record: QueryRecord) -> list[tuple[int, str]]:
    return [(each.cycle, each.role.value) for each in record.considered]


def test_navigator_and_retriever_say_in_every_cycle_what_they_had_before_them():
    record = ask(RoleScript(verifier=fail("more")))
    assert said(record) == [(1, "navigator"), (1, "retriever"), (2, "navigator"), (2, "retriever")]
    for each in record.considered:
        assert len(set(each.evidence_ids)) == len(each.evidence_ids) > 0


def test_what_is_committed_was_considered():
    record = ask(RoleScript(verifier=fail("more")))
    for commit in record.states:
        if commit.role is Role.RETRIEVER:
            [candidates] = [e for e in record.considered if (e.cycle, e.role) == (commit.cycle, commit.role)]
            assert {item["evidence_id"] for item in commit.value} <= set(candidates.evidence_ids)


def test_the_ends_of_the_navigators_traces_come_first():
    record = ask(RoleScript(verifier=fail("more")))
    settings, encoder = small_settings(**ASKS_MODELS), HashedEncoder()
    graph = build_graph(make_collection(), encoder, LeadAbstractor(encoder, settings.tam.child_tokens), settings)
    paths = {commit.cycle: commit.value for commit in record.states if commit.role is Role.NAVIGATOR}
    assert len(paths[1]) > 1
    for each in record.considered:
        if each.role is Role.NAVIGATOR:
            ends = dict.fromkeys(trace[-1] for trace in paths[each.cycle])
            assert list(each.evidence_ids[: len(ends)]) == [graph.record(node, 1).evidence_id for node in ends]
            assert all(graph.node_of(name) for name in each.evidence_ids)


@pytest.mark.parametrize("budget", [2, 8, 32])
def test_a_traversal_has_seen_the_evidence_that_it_scored(budget):
    world, scored = make_world(), []

    def score(traces):
        scored.extend(trace[-1] for trace in traces)
        return [1 / (1 + trace[-1]) for trace in traces]

    vector = world.encoder.encode_queries(["observatory lens"])[0]
    found = navigate(
        world.graph, world.graph.cosines(vector, "abstraction"), score, NavigationSettings(), budget=budget
    )
    assert list(found.seen) == [node for node in scored if world.graph.node_type(node) is NodeType.EVIDENCE]
    assert {each.trace[-1] for each in found.completed} <= set(found.seen)


def test_the_navigator_considers_no_more_than_it_may_score():
    record = ask(navigation=ASKS_MODELS["navigation"] | {"candidates": 12})
    [scored] = [each for each in record.considered if each.role is Role.NAVIGATOR]
    assert len(scored.evidence_ids) < 12


@pytest.mark.parametrize(
    ("retriever", "expected"),
    [
        ('{"selected": [1, 1]}', [(1, "navigator"), (1, "retriever")]),
        ("not json", [(1, "navigator")]),
    ],
    ids=["a rejected value", "no value"],
)
def test_a_proposal_that_was_not_committed_still_had_something_before_it(retriever, expected):
    record = ask(RoleScript(retriever=retriever))
    assert record.status == "incomplete"
    assert said(record) == expected


def test_roles_that_look_at_no_evidence_say_nothing():
    assert ask(RoleScript(planner="not json")).considered == []


def test_a_record_of_before_is_read_as_one_that_says_nothing():
    record = json.loads(ask().model_dump_json())
    assert record.pop("considered")
    assert QueryRecord.model_validate(record).considered == []
