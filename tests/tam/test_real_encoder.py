"""A graph of real documents with the default preset's encoder: built, stored, and found through."""

from __future__ import annotations

import pytest

from programs.models.encoders.onnx_encoder import OnnxEncoder
from programs.settings import NavigationSettings, TamSettings, load_settings
from programs.tam.abstract import LeadAbstractor
from programs.tam.build import build_graph
from programs.tam.navigate import navigate
from programs.tam.store import load_graph, save_graph
from programs.workloads.sample import load_sample

SAMPLE = load_sample()


@pytest.fixture(scope="module")
def bge():
    return OnnxEncoder("bge-small-en-v1.5")


@pytest.fixture(scope="module")
def sample_graph(bge):
    settings = load_settings("embedded").model_copy(update={"tam": TamSettings(region_tokens=64, overlap_tokens=16)})
    return build_graph(SAMPLE.collection, bge, LeadAbstractor(bge, settings.tam.child_tokens), settings)


def test_regions_of_real_documents_are_the_source_at_their_offsets(sample_graph):
    sources = SAMPLE.collection.texts
    records = [sample_graph.record(node, 0) for node in sample_graph.evidence_nodes]
    assert all(sources[r.source_id][r.start : r.end] == r.text for r in records)
    assert {record.source_id for record in records} == set(sources)
    assert any(len(sample_graph.children(node)) > 1 for node in range(1, len(sample_graph)))


@pytest.mark.parametrize("example", [pytest.param(e, id=e.query.query_id) for e in SAMPLE.examples])
def test_a_question_leads_to_a_document_that_supports_its_answer(sample_graph, bge, example):
    query = bge.encode_queries([example.query.question])[0]
    found = navigate(
        sample_graph,
        sample_graph.cosines(query, "abstraction"),
        lambda traces: [float(sample_graph.vector(trace[-1]) @ query) for trace in traces],
        NavigationSettings(),
    )
    reached = {sample_graph.record(done.trace[-1], 1).source_id for done in found.completed}
    assert reached & set(example.reference.supporting)
    assert found.scored <= 32


def test_a_real_graph_is_loaded_as_it_was_saved(sample_graph, tmp_path):
    save_graph(sample_graph, tmp_path)
    loaded = load_graph(tmp_path)
    assert loaded.parts.texts == sample_graph.parts.texts
    assert (loaded.vectors == sample_graph.vectors).all()
