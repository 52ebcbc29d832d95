"""Vanilla RAG and its reranked control, whole, on a scripted reader."""

from __future__ import annotations

import numpy as np
import pytest

from programs.contract import check_provenance
from programs.errors import ModelUnavailable
from programs.methods.base import NO_EVIDENCE
from programs.methods.indexes import Indexes
from programs.methods.vanilla.program import Vanilla
from programs.methods.vanilla_rerank.program import VanillaRerank
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.tam.segment import segment
from tests.support.questions import QUESTION, ask
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import collection_of, make_collection, small_settings


def make_program(kind=Vanilla, indexes=None, cross_encoder=True, **branches):
    model = LanguageModel(ScriptedEngine(lambda request: "the dome"))
    scorer = OverlapCrossEncoder() if cross_encoder else None
    return kind(Runtime(small_settings(**branches), model, model, HashedEncoder(), scorer), "test", indexes)


def ids(record):
    return [item.evidence_id for item in record.evidence]


def test_the_k_nearest_regions_are_read_best_first():
    collection, encoder = make_collection(), HashedEncoder()
    regions = segment(collection, encoder, 16, 4)
    question = encoder.encode_queries([QUESTION])[0]
    cosines = [float(np.dot(encoder.encode_passages([region.text])[0], question)) for region in regions]
    expected = sorted(range(len(regions)), key=lambda i: -np.float32(cosines[i]))[:3]
    record = ask(make_program(vanilla={"k": 3}), collection)
    assert ids(record) == [regions[i].evidence_id for i in expected]
    assert (record.status, record.answer) == ("completed", "the dome")


def test_ties_keep_the_order_of_the_sources():
    record = ask(make_program(vanilla={"k": 2}), collection_of("the dome", "a ferry", "the dome", "the dome"))
    assert [item.source_id for item in record.evidence] == ["s0", "s2"]


def test_the_readers_budget_cuts_the_last_region_that_fits():
    collection = make_collection()
    record = ask(make_program(lifecycle={"reader_budget": 20}), collection)
    assert [len(HashedEncoder().spans(item.text)) for item in record.evidence] == [16, 4]
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_only_the_reader_is_asked_and_only_once():
    record = ask(make_program())
    assert [(call.role, call.phase) for call in record.calls] == [("reader", Phase.READER)]
    assert (record.tokens.aux, record.tokens.index) == (0, 0)


@pytest.mark.parametrize("kind", [Vanilla, VanillaRerank])
@pytest.mark.parametrize("sources", [(), ("",), (" \n\t ", "\n")])
def test_a_collection_without_text_is_incomplete_and_says_so(kind, sources):
    record = ask(make_program(kind), collection_of(*sources))
    assert (record.status, record.error, record.calls) == ("incomplete", NO_EVIDENCE, [])


@pytest.mark.parametrize("kind", [Vanilla, VanillaRerank])
@pytest.mark.parametrize("text", ["one chunk", "圆顶里有一面透镜。渡船在码头。" * 9, "القبة تحمل العدسة " * 30])
def test_collections_of_one_chunk_or_of_other_scripts_work(kind, text):
    collection = collection_of(text)
    record = ask(make_program(kind), collection)
    assert record.status == "completed"
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_reranking_orders_the_head_by_the_cross_encoder_and_takes_no_region_from_outside_it():
    collection = collection_of("dome " * 12, "dome dome lens", "which dome holds the lens", "the lens")
    nearest = [item.source_id for item in ask(make_program(vanilla={"k": 4}), collection).evidence]
    record = ask(make_program(VanillaRerank, vanilla_rerank={"candidates": 3, "k": 2}), collection)
    scores = {s.source_id: OverlapCrossEncoder().score(QUESTION, [s.text])[0] for s in collection.sources}
    assert [item.source_id for item in record.evidence] == sorted(nearest[:3], key=lambda s: -scores[s])[:2]


def test_reranking_changes_the_order_where_the_cross_encoder_disagrees_with_the_encoder():
    question = "dome dome dome lens pier"
    collection = collection_of("dome dome dome", "dome lens pier")
    plain = ask(make_program(), collection, question)
    reranked = ask(make_program(VanillaRerank), collection, question)
    assert [item.source_id for item in plain.evidence] == ["s0", "s1"]
    assert [item.source_id for item in reranked.evidence] == ["s1", "s0"]


def test_without_a_cross_encoder_the_control_is_refused_and_is_not_vanilla_by_another_name():
    with pytest.raises(ModelUnavailable, match="vanilla-rerank ranks with a cross-encoder"):
        make_program(VanillaRerank, cross_encoder=False)


@pytest.mark.parametrize("kind", [Vanilla, VanillaRerank])
def test_I5_two_runs_are_equal_but_for_their_times(kind):
    assert timeless(ask(make_program(kind))) == timeless(ask(make_program(kind)))


def test_an_index_that_was_saved_gives_the_same_evidence_when_it_is_loaded(tmp_path):
    collection = make_collection()
    first = ask(make_program(indexes=Indexes(tmp_path, {collection.digest})), collection)
    (saved,) = tmp_path.iterdir()
    assert saved.name == f"{collection.digest}@0"
    second = ask(make_program(indexes=Indexes(tmp_path, {collection.digest})), collection, position=1)
    assert second.evidence == first.evidence
    assert second.encoder_tokens < first.encoder_tokens
