"""Reports, local search and global search over a graph small enough to work out by hand."""

from __future__ import annotations

import json

import dspy
import numpy as np
import pytest

from programs.contract import check_provenance
from programs.documents.collection import Collection, Source
from programs.methods.base import QueryRun
from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.global_search import GlobalSearch
from programs.methods.graphrag.knowledge import Community, Entity, EntityGraph, KnowledgeIndex, Relationship
from programs.methods.graphrag.local_search import (
    local_search,
    nearest_entities,
    ranked_relationships,
    ranked_reports,
    ranked_units,
    statements,
)
from programs.methods.graphrag.reports import Reported, Reporting
from programs.methods.graphrag.settings import GraphragSettings
from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.tam.segment import segment
from programs.workloads.query import Query
from signatures.baselines.graphrag import CommunityReport
from tests.support.scripted import HashedEncoder, ScriptedEngine
from tests.support.worlds import small_settings

ENCODER = HashedEncoder(4096)
COLLECTION = Collection(
    sources=(
        Source(source_id="a.md", text="Arvo mended the lens. Bela held the lamp."),
        Source(source_id="b.md", text="Cira sang in the hall while Dov wrote the score."),
        Source(source_id="c.md", text="Edda grew pears. Finn sold them to Bela."),
    )
)
TITLES = ("ARVO", "BELA", "CIRA", "DOV", "EDDA", "FINN")
UNITS = ((0,), (0, 2), (1,), (1,), (2,), (2,))
PAIRS = ((0, 1, (0,)), (2, 3, (1,)), (4, 5, (2,)), (1, 5, (2,)), (1, 2, (1,)))
"""0 Arvo–Bela, 1 Cira–Dov, 2 Edda–Finn, 3 Bela–Finn, 4 Bela–Cira. Bela has three, Cira and Finn two, the rest one."""
GRAPH = EntityGraph(
    tuple(Entity(t, "person", f"{t.lower()} is known", u) for t, u in zip(TITLES, UNITS, strict=True)),
    tuple(Relationship(a, b, f"pair {i}", 1.0, units) for i, (a, b, units) in enumerate(PAIRS)),
)
COMMUNITIES = (
    Community(0, None, (0, 1, 4, 5)),
    Community(0, None, (2, 3)),
    Community(1, 0, (0, 1)),
    Community(1, 0, (4, 5)),
)


def report(title, rating=5, summary="s"):
    return CommunityReport(title=title, summary=summary, findings=(), rating=rating)


REPORTS = {0: report("whole"), 1: report("music", 2), 2: report("lens", 3), 3: report("pears", 9)}


def make_index(reports=None):
    units = tuple(segment(COLLECTION, ENCODER, 100, 0))
    titled = [f"{entity.title}: {entity.description}" for entity in GRAPH.entities]
    none = ENCODER.encode_passages([])
    return KnowledgeIndex(
        units, GRAPH, COMMUNITIES, REPORTS if reports is None else reports, ENCODER.encode_passages(titled), none
    )


def asking_with(script, question="who?", context=8192):
    engine = ScriptedEngine(script, context=context)
    model = LanguageModel(engine)
    query = Query(query_id="q", question=question, collection=COLLECTION, position=0)
    return Asking(QueryRun(query, Runtime(small_settings(), model, model, ENCODER, None))), engine


def test_relationships_are_ranked_by_the_degrees_of_both_ends():
    assert [GRAPH.rank(number) for number in range(5)] == [4, 3, 3, 5, 5]
    assert GRAPH.inside((0, 1, 4, 5)) == [3, 0, 2]
    assert GRAPH.inside((0, 4)) == []


def below(reports):
    """The reports of level 1, as they stand when level 0 is reported on."""
    return Reported(GRAPH, COMMUNITIES, {2: reports[2], 3: reports[3]})


def test_a_report_that_fits_lists_entities_before_the_relationship_that_joins_them():
    asking, _ = asking_with(lambda request: "")
    said = below(REPORTS).facts(0, asking, 1000)
    assert said.split("\n") == [
        "BELA (person): bela is known",
        "FINN (person): finn is known",
        "BELA – FINN: pair 3",
        "ARVO (person): arvo is known",
        "ARVO – BELA: pair 0",
        "EDDA (person): edda is known",
        "EDDA – FINN: pair 2",
    ]


def test_reports_of_the_largest_parts_stand_for_them_where_the_rest_does_not_fit():
    asking, _ = asking_with(lambda request: "")
    said = below(REPORTS).facts(0, asking, 25).split("\n")
    assert said[:2] == ["lens", "s"]
    assert "ARVO (person): arvo is known" not in said
    assert "BELA – FINN: pair 3" in said, "a relationship that leaves the replaced part is still told"
    assert below(REPORTS).facts(0, asking, 4).split("\n") == ["lens", "s", "pears", "s"]
    assert Reported(GRAPH, COMMUNITIES).facts(0, asking, 12).split("\n") == [
        "BELA (person): bela is known",
        "FINN (person): finn is known",
    ]


def test_reports_are_written_from_the_deepest_level_up_and_an_unreadable_one_is_left_out():
    def write(request):
        content = request.messages[-1].content
        if "CIRA" in content:
            return "not json"
        return json.dumps({"title": content.split("\n")[1][:4], "summary": "s", "findings": [], "rating": 1})

    asking, engine = asking_with(write)
    with dspy.context(adapter=TemplateAdapter()):
        reports = Reporting().report(GRAPH, (*COMMUNITIES, Community(1, 1, (2,))), asking, GraphragSettings())
    assert {number: made.title for number, made in reports.items()} == {0: "BELA", 2: "ARVO", 3: "EDDA"}
    opened = [request.messages[-1].content.split("\n")[1][:4] for request in engine.requests]
    assert opened == ["ARVO", "EDDA", "BELA", "CIRA"], "and none for a community without a relationship"
    assert asking.run.transcript.unreadable == 1


def test_the_nearest_entities_come_in_order_of_similarity_and_ties_in_order_of_the_text():
    index = make_index()
    assert nearest_entities("is known finn", index, ENCODER, 3) == [5, 0, 1]


def test_an_entity_is_at_home_in_its_deepest_community_up_to_the_level():
    index = make_index()
    assert index.homes(2) == {0: 2, 1: 2, 4: 3, 5: 3, 2: 1, 3: 1}
    assert index.homes(0) == {0: 0, 1: 0, 4: 0, 5: 0, 2: 1, 3: 1}


def test_reports_with_the_most_entities_come_first_then_the_highest_rated():
    index = make_index()
    assert ranked_reports([4, 2, 3, 0], index, level=2) == [1, 3, 2]
    assert ranked_reports([4, 0, 2], index, level=0) == [0, 1]
    assert ranked_reports([2, 0], make_index({2: report("lens")}), level=2) == [2]


def test_text_units_follow_the_entities_and_then_the_number_of_their_relationships():
    index = make_index()
    assert ranked_units([1], index) == [0, 2], "each relates Bela once, so the text's order decides"
    assert ranked_units([2, 1], index) == [1, 0, 2]
    assert ranked_units([5, 0], index) == [2, 0]


def test_relationships_among_the_chosen_come_before_shared_outsiders_and_those_before_other_outsiders():
    index = make_index()
    assert ranked_relationships([0, 1], index, 10) == [0, 3, 4]
    assert ranked_relationships([1, 4], index, 10) == [3, 2, 4, 0], "Finn is related to both, then rank decides"
    assert ranked_relationships([1], index, 2) == [3, 4]


def test_entities_leave_room_for_relationships_and_get_back_what_these_do_not_use():
    index = make_index()
    texts = [record.text for record in statements([0, 1, 2, 3, 4, 5], index, ENCODER, GraphragSettings(), 20)]
    assert texts == [
        "ARVO (person): arvo is known",
        "BELA (person): bela is known",
        "ARVO – BELA: pair 0",
        "BELA – FINN: pair 3",
    ]
    alone = [record.text for record in statements([0], index, ENCODER, GraphragSettings(), 10)]
    assert alone == ["ARVO (person): arvo is known", "ARVO – BELA: pair 0"]
    crowded = statements([0, 1, 2], index, ENCODER, GraphragSettings(entity_share=1.0), 15)
    assert [record.text[:4] for record in crowded] == ["ARVO", "BELA", "CIRA"]


def test_local_evidence_is_reports_then_statements_then_sources_each_within_its_share():
    index = make_index()
    settings = GraphragSettings(community_share=0.2, text_unit_share=0.4)
    for budget in (5, 20, 50, 400):
        records = local_search("did bela know finn", index, ENCODER, settings, budget)
        kinds = [record.derived.kind if record.derived else "source" for record in records]
        assert kinds == sorted(kinds, key=["report", "statement", "source"].index)
        spent = {
            kind: sum(len(ENCODER.spans(r.text)) for r, k in zip(records, kinds, strict=True) if k == kind)
            for kind in kinds
        }
        assert spent.get("report", 0) <= int(0.2 * budget)
        assert spent.get("source", 0) <= int(0.4 * budget)
        assert sum(spent.values()) <= budget
        for record in records:
            check_provenance(record, COLLECTION.texts)
    assert {r.source_id for r in records if not r.derived} == {"a.md", "b.md", "c.md"}


def test_a_budget_too_small_for_any_share_still_gives_the_nearest_text_unit():
    records = local_search("arvo", make_index(), ENCODER, GraphragSettings(), 1)
    assert records[0].text == COLLECTION.texts["a.md"]


def test_a_text_unit_above_its_share_is_cut_to_a_prefix_of_itself():
    index = make_index()
    records = local_search("arvo", index, ENCODER, GraphragSettings(top_entities=1, oversample=1), 10)
    (source,) = [record for record in records if record.derived is None]
    assert source.text == "Arvo mended the lens. Bela"
    check_provenance(source, COLLECTION.texts)


def test_derived_evidence_names_the_text_units_that_it_was_made_from():
    index = make_index()
    bela = index.entity_record(1)
    assert [region.source_id for region in bela.derived.regions] == ["a.md", "c.md"]
    assert (bela.source_id, bela.start, bela.end) == ("a.md", 0, len(COLLECTION.texts["a.md"]))
    assert bela.evidence_id.startswith("statement:")
    assert [region.source_id for region in index.report_record(0).derived.regions] == ["a.md", "c.md"]
    assert [region.source_id for region in index.relationship_record(4).derived.regions] == ["b.md"]
    assert [region.source_id for region in index.derived("point", "x", [2, 0]).derived.regions] == ["a.md", "c.md"]
    assert index.entity_record(1).evidence_id == bela.evidence_id != index.entity_record(2).evidence_id


def rated(*points):
    keys = ("description", "score", "reports")
    return json.dumps({"points": [dict(zip(keys, point, strict=True)) for point in points]})


def search_globally(script, settings=None, **asked):
    asking, engine = asking_with(script, **asked)
    with dspy.context(adapter=TemplateAdapter()):
        records = GlobalSearch().search(make_index(), asking, settings or GraphragSettings())
    return records, engine


def test_global_points_are_ordered_by_score_and_those_of_no_help_are_dropped():
    records, engine = search_globally(
        lambda request: rated(
            ("weak", 10, [1]), ("none", 0, [1]), (" ", 95, [1]), ("strong", 90, []), ("also weak", 10, [9])
        )
    )
    assert len(engine.requests) == 1
    assert [record.text for record in records] == ["strong", "weak", "also weak"]
    assert {record.derived.kind for record in records} == {"point"}
    for record in records:
        check_provenance(record, COLLECTION.texts)


def test_a_global_point_names_the_text_units_of_the_reports_that_it_cites():
    asked = []

    def cite_music(request):
        content = request.messages[-1].content
        asked.append(content)
        place = next(line for line in content.split("\n") if line.endswith("] music"))[1]
        return rated(("a song", 50, [int(place)]), ("anything", 40, [77]))

    records, _ = search_globally(cite_music)
    assert [region.source_id for region in records[0].derived.regions] == ["b.md"]
    assert [region.source_id for region in records[1].derived.regions] == ["a.md", "b.md", "c.md"]
    assert "whole" not in asked[0], "the reports of the deepest communities stand for those above"


def test_global_search_reads_reports_in_batches_in_an_order_that_the_seed_fixes():
    settings = GraphragSettings(map_input_tokens=16)
    small = [search_globally(lambda request: rated(), settings, question=" ".join(["x"] * 13))[1] for _ in range(2)]
    prompts = [[request.messages[-1].content for request in engine.requests] for engine in small]
    assert prompts[0] == prompts[1]
    assert len(prompts[0]) == 3
    orders = {
        search_globally(lambda request: rated(), GraphragSettings(shuffle_seed=seed))[1].requests[0].messages
        for seed in range(8)
    }
    assert len(orders) > 1


@pytest.mark.parametrize(
    "completion", ["not json", '{"points": []}', '{"points": [{"description": "x", "score": 101, "reports": []}]}']
)
def test_global_search_without_a_usable_point_finds_nothing(completion):
    records, _ = search_globally(lambda request: completion)
    assert records == []


def test_vectors_of_entities_are_unit_vectors_of_titles_and_descriptions():
    index = make_index()
    assert np.allclose(np.linalg.norm(index.entity_vectors, axis=1), 1)
    assert index.unit_vectors.shape == (0, ENCODER.dimension)
