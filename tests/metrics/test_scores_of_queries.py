"""Metrics read what the program really writes: whole queries on a scripted model, dumped and read as a run folder holds them."""

import pytest

from metrics.metric import METRICS
from metrics.record import QueryRecord
from metrics.scores import score
from programs.methods.staterag.program import StateRAG
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.workloads.query import GoldPassage, Query, Reference
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.scripts import RoleScript, fail
from tests.support.worlds import make_collection, small_settings

BY_MODEL = {
    "navigation": {"scorer": {"listwise": 1.0}},
    "retriever": {"ranker": "model"},
    "verifier": {"rule": "model"},
}
ENDS = {
    "RELEASE": RoleScript(),
    "FALLBACK": RoleScript(verifier=fail("more"), retriever=['{"selected": [1, 2]}', '{"selected": [3, 1]}']),
    "rejected": RoleScript(planner="no plan at all"),
}


def scores_of(script: RoleScript) -> tuple[QueryRecord, dict]:
    model = LanguageModel(ScriptedEngine(script))
    runtime = Runtime(small_settings(**BY_MODEL), model, model, HashedEncoder(), OverlapCrossEncoder())
    collection = make_collection()
    source = collection.sources[0]
    question = "Which dome holds the lens?"
    query = Query(query_id="q1", question=question, collection=collection, position=0)
    gold = GoldPassage(source_id=source.source_id, title=source.text[:5], start=0, end=len(source.text))
    reference = Reference(
        query_id="q1", answers=("The dome",), supporting=(source.source_id,), passages=((gold,),), question_type="where"
    )
    record = StateRAG(runtime, workload="test").run(query)
    read = QueryRecord.model_validate_json(record.model_dump_json())
    assert score(read, reference) == score(record, reference)
    return read, score(read, reference)


@pytest.mark.parametrize("end", ["RELEASE", "FALLBACK"])
def test_a_query_that_the_reader_answered_keeps_the_rules_of_admission(end):
    record, scores = scores_of(ENDS[end])
    assert record.action == end
    assert scores["em"] == 1.0
    assert scores["admission_violations"] == 0
    assert scores["reader_calls"] == scores["reached_reader"] == 1
    assert scores["ret"] == pytest.approx(record.ret.tokens)
    assert set(scores) <= set(METRICS)


def test_a_query_that_was_rejected_scores_0_and_keeps_its_tokens():
    record, scores = scores_of(ENDS["rejected"])
    quality = [name for name in scores if METRICS[name].group in ("answer", "evidence")]
    assert {name: scores[name] for name in quality} == dict.fromkeys(quality, 0.0)
    assert len(quality) > 10
    assert (scores["incomplete"], scores["parse_failures"], scores["admission_violations"]) == (1, 1, 0)
    assert scores["tokens_aux"] == record.tokens.aux > 0
