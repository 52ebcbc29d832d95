"""Flat fusion: StateRAG's ranking of segments, and nothing else of StateRAG."""

from __future__ import annotations

import numpy as np
import pytest

from programs.errors import ModelUnavailable
from programs.methods.base import QueryRun
from programs.methods.flat_fusion.settings import FlatFusionSettings
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.roles.relevance import fused
from programs.selection.configured import ConfiguredMethod, configure
from programs.workloads.query import Query
from tests.support.questions import QUESTION, ask
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import collection_of, make_collection, small_settings


def opened(cross_encoder=True, **own):
    settings = small_settings(flat_fusion=own)
    model = LanguageModel(ScriptedEngine(lambda request: "the dome"))
    scorer = OverlapCrossEncoder() if cross_encoder else None
    return ConfiguredMethod("flat-fusion", settings).open(
        Runtime(settings, model, model, HashedEncoder(), scorer), "test"
    )


def regions(program, collection):
    query = Query(query_id="x", question="x", collection=collection, position=0)
    return program.index(QueryRun(query, program.runtime))


@pytest.mark.parametrize("pool", [None, 9])
def test_it_keeps_the_best_of_the_pool_by_the_retrievers_own_fusion(pool):
    collection = make_collection()
    program = opened(pool=pool, records=4)
    record = ask(program, collection)
    index, encoder = regions(program, collection), program.runtime.encoder
    near = [index.segments[i] for i in index.nearest(QUESTION, encoder)[:pool]]
    scores = fused(QUESTION, (), [segment.text for segment in near], encoder, OverlapCrossEncoder())
    best = [near[i].record().evidence_id for i in np.argsort(-scores, kind="stable")[:4]]
    assert [item.evidence_id for item in record.evidence] == best


def test_a_text_that_the_best_one_names_is_found_though_it_is_not_like_the_question():
    texts = [
        "The lens of the dome was ground by Ysolde Marrane.",
        *(f"Rain number {i} fell on the pears." for i in range(8)),
        "Ysolde Marrane\n\nShe was born in Quarrow.",
    ]
    record = ask(opened(records=2), collection_of(*texts), question="Who ground the lens of the dome?")
    assert {item.source_id for item in record.evidence} == {"s0", "s9"}


def test_no_model_is_asked_but_the_reader_and_no_state_is_kept():
    record = ask(opened())
    assert [call.role for call in record.calls] == ["reader"]
    assert (record.states, record.action, record.memory.reads) == ([], None, 0)


def test_without_a_cross_encoder_it_does_not_begin():
    with pytest.raises(ModelUnavailable, match=r"flat-fusion ranks with a cross-encoder.*--set"):
        opened(cross_encoder=False)


def test_it_hands_over_as_many_records_as_staterag_ships_to_keep_first_from_the_same_cuts():
    full, flat = (configure(name, "embedded").settings for name in ("staterag", "flat-fusion"))
    assert flat.of(FlatFusionSettings).records == full.lifecycle.keep_first
    assert flat.lifecycle.reader_budget == full.lifecycle.reader_budget
    for key in ("region_tokens", "overlap_tokens", "boundaries"):
        assert getattr(flat.tam, key) == getattr(full.tam, key)
