"""GraphRAG whole, on scripted models: a model that finds capitalised names, and models that fail in every step."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from pydantic import ValidationError

from programs.contract import check_provenance
from programs.documents.collection import Collection, Source
from programs.errors import InputError
from programs.methods.graphrag.program import GraphRAG
from programs.methods.graphrag.settings import GraphragSettings
from programs.methods.graphrag.store import KnowledgeCodec
from programs.methods.indexes import Indexes
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.settings import load_settings
from programs.workloads.query import Query
from tests.support.dying import refuse
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import small_settings

OPENINGS = {
    "first": "You find entities",
    "missed": "You complete a list",
    "summarise": "You combine several",
    "write": "You write a report",
    "rate": "You look in reports",
    "reader": "Answer the question",
}
QUESTION = "Who taught Brannoc?"
COLLECTION = Collection(
    sources=(
        Source(source_id="1.md", text="Aldith taught Brannoc to grind a lens. Brannoc later worked for Corisande."),
        Source(source_id="2.md", text="Corisande owned the mill at Dunmere. Aldith never saw Dunmere."),
        Source(source_id="3.md", text="Brannoc and Elowen rowed to Farholt. Elowen stayed there."),
    )
)
SMALL = {"graphrag": {"chunk_tokens": 12, "chunk_overlap": 2}}
NOTHING = json.dumps({"entities": [], "relationships": []})


def found_graph(names, text="here"):
    return json.dumps(
        {
            "entities": [
                {"name": n, "type": "person", "description": f"{n} in {text[:30]}"} for n in dict.fromkeys(names)
            ],
            "relationships": [
                {"source": a, "target": b, "description": f"{a} is named with {b}", "strength": 5}
                for a, b in pairwise(dict.fromkeys(names))
            ],
        }
    )


def find_names(request):
    text = re.search(r"\nText:\n(.*?)\n\n(?:Already|Output)", request.messages[-1].content, re.DOTALL).group(1)
    return found_graph(re.findall(r"\b[A-Z][a-z]{3,}\b", text), text)


def write_report(request):
    first = request.messages[-1].content.split("\n")[1]
    finding = {"summary": "an insight", "explanation": "and why"}
    return json.dumps(
        {"title": f"About {first}", "summary": "they know each other", "findings": [finding], "rating": 4}
    )


class Script:
    def __init__(self, **answers):
        self.answers = {
            "first": find_names,
            "missed": NOTHING,
            "summarise": "what is known",
            "write": write_report,
            "rate": json.dumps({"points": [{"description": "Aldith taught him", "score": 80, "reports": [1]}]}),
            "reader": "Aldith",
            **answers,
        }
        self.asked = []

    def __call__(self, request):
        step = next(s for s, opening in OPENINGS.items() if request.messages[0].content.startswith(opening))
        self.asked.append((step, request))
        answer = self.answers[step]
        return answer(request) if callable(answer) else answer

    def requests(self, step):
        return [request for name, request in self.asked if name == step]


def make_program(script=None, indexes=None, context=8192, **branches):
    settings = small_settings(**{**SMALL, **branches})
    model = LanguageModel(ScriptedEngine(script or Script(), context=context))
    return GraphRAG(Runtime(settings, model, model, HashedEncoder(), OverlapCrossEncoder()), "test", indexes)


def graphrag(**fields):
    return {"graphrag": {**SMALL["graphrag"], **fields}}


def ask(program, collection=COLLECTION, query_id="q1", position=0, question=QUESTION):
    return program.run(Query(query_id=query_id, question=question, collection=collection, position=position))


def index_of(program):
    (index,) = program.indexes._held.values()
    return index


def test_a_question_is_answered_from_reports_statements_and_text_units():
    script = Script()
    record = ask(make_program(script))
    assert (record.status, record.answer, record.method) == ("completed", "Aldith", "graphrag")
    kinds = [item.derived.kind if item.derived else "source" for item in record.evidence]
    assert list(dict.fromkeys(kinds)) == ["report", "statement", "source"]
    assert "ALDITH (person): what is known" in [item.text for item in record.evidence]
    assert any(item.text == COLLECTION.texts[item.source_id][item.start : item.end] for item in record.evidence)
    assert len(script.requests("reader")) == 1


def test_index_work_is_charged_to_the_index_and_a_local_search_asks_no_model():
    record = ask(make_program())
    roles = {call.role: call.phase for call in record.calls}
    assert roles == {
        "extraction": Phase.INDEX,
        "gleaning": Phase.INDEX,
        "descriptions": Phase.INDEX,
        "report": Phase.INDEX,
        "reader": Phase.READER,
    }
    assert record.tokens.index > 0
    assert record.tokens.aux == 0


def test_a_global_search_asks_about_reports_and_is_charged_as_auxiliary_work():
    script = Script()
    record = ask(make_program(script, **graphrag(search="global")))
    assert record.answer == "Aldith"
    assert [item.text for item in record.evidence] == ["Aldith taught him"]
    assert record.evidence[0].derived.kind == "point"
    assert {call.phase for call in record.calls if call.role == "map"} == {Phase.AUX}
    assert f"Question:\n{QUESTION}\n\nReports:\n[1] About " in script.requests("rate")[0].messages[-1].content


def test_a_global_search_that_finds_no_point_has_no_evidence_and_no_reader():
    script = Script(rate='{"points": []}')
    record = ask(make_program(script, **graphrag(search="global")))
    assert (record.status, record.evidence, script.requests("reader")) == ("incomplete", [], [])


def test_every_record_has_provenance_in_the_collection():
    for search in ("local", "global"):
        record = ask(make_program(**graphrag(search=search)))
        assert record.evidence
        for item in record.evidence:
            check_provenance(item, COLLECTION.texts)


def test_statements_name_every_text_unit_that_mentions_them():
    program = make_program()
    ask(program)
    index = index_of(program)
    place = [entity.title for entity in index.graph.entities].index("BRANNOC")
    regions = index.entity_record(place).derived.regions
    assert all("Brannoc" in COLLECTION.texts[r.source_id][r.start : r.end] for r in regions)
    assert {region.source_id for region in regions} == {"1.md", "3.md"}


def test_gleaning_sees_what_was_found_and_adds_to_it():
    script = Script(
        first=lambda r: found_graph(["Aldith", "Brannoc"]), missed=lambda r: found_graph(["Zennor", "Aldith"])
    )
    program = make_program(script)
    ask(program)
    assert {entity.title for entity in index_of(program).graph.entities} == {"ALDITH", "BRANNOC", "ZENNOR"}
    asked = script.requests("missed")
    assert len(asked) == len(script.requests("first"))
    assert "Already found:\nAldith\nBrannoc\nAldith is related to Brannoc\n" in asked[0].messages[-1].content


def test_a_second_gleaning_looks_only_where_the_first_found_something():
    script = Script(missed=lambda r: found_graph(["Zennor"]) if "mill" in r.messages[-1].content else NOTHING)
    ask(make_program(script, **graphrag(gleanings=2)))
    units = len(script.requests("first"))
    fruitful = sum("mill" in request.messages[-1].content for request in script.requests("first"))
    assert 0 < fruitful < units
    assert len(script.requests("missed")) == units + fruitful


def test_without_gleanings_each_text_unit_is_asked_about_once():
    script = Script()
    record = ask(make_program(script, **graphrag(gleanings=0)))
    assert record.status == "completed"
    assert script.requests("missed") == []


def test_a_text_unit_whose_extraction_is_unreadable_yields_nothing_and_is_not_asked_again():
    script = Script(first=lambda r: "no json" if "lens" in r.messages[-1].content else find_names(r))
    program = make_program(script)
    record = ask(program)
    broken = sum("lens" in request.messages[-1].content for request in script.requests("first"))
    assert broken == record.parse_failures > 0
    assert all("lens" not in request.messages[-1].content for request in script.requests("missed"))
    lens = {n for n, unit in enumerate(index_of(program).units) if "lens" in unit.text}
    assert not lens & {unit for entity in index_of(program).graph.entities for unit in entity.units}
    assert record.status == "completed"


@pytest.mark.parametrize("first", ["no json", NOTHING])
@pytest.mark.parametrize("search", ["local", "global"])
def test_where_nothing_is_extracted_the_nearest_text_units_are_the_evidence(first, search):
    record = ask(
        make_program(Script(first=first), **graphrag(search=search)), question="Who owned the mill at Dunmere?"
    )
    assert record.status == "completed"
    assert all(item.derived is None for item in record.evidence)
    assert "mill at Dunmere" in record.evidence[0].text


@pytest.mark.parametrize("step", ["missed", "write"])
def test_other_unreadable_completions_leave_the_rest_standing(step):
    record = ask(make_program(Script(**{step: '{"wrong": 1}'})))
    assert record.status == "completed"
    assert record.parse_failures > 0
    kinds = {item.derived.kind for item in record.evidence if item.derived}
    assert kinds == ({"statement"} if step == "write" else {"statement", "report"})


def test_a_relationship_free_graph_has_entities_and_text_units_alone():
    alone = json.dumps({"entities": [{"name": "Brannoc", "type": "person", "description": "x"}], "relationships": []})
    program = make_program(Script(first=alone))
    record = ask(program)
    assert index_of(program).communities == ()
    assert [item.derived.kind for item in record.evidence if item.derived] == ["statement"]
    assert [item for item in record.evidence if not item.derived]


@pytest.mark.parametrize("text", ["", " \n\t ", "\u3000"])
def test_a_collection_without_text_has_no_evidence_and_asks_nobody(text):
    script = Script()
    record = ask(make_program(script), Collection(sources=(Source(source_id="a.md", text=text),)))
    assert (record.status, record.evidence, script.asked) == ("incomplete", [], [])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("玛丽住在伦敦。约翰在巴黎工作。", ["玛丽", "约翰"]),
        ("تعمل ليلى في القاهرة مع سامي", ["ليلى", "سامي"]),
        ("Iris met Otto.", ["Iris", "Otto"]),
    ],
)
def test_one_text_unit_in_any_script_is_enough(text, names):
    collection = Collection(sources=(Source(source_id="a.md", text=text),))
    record = ask(make_program(Script(first=lambda r: found_graph(names))), collection)
    assert record.status == "completed"
    assert record.evidence[-1].text == text
    assert {item.derived.kind for item in record.evidence if item.derived} == {"report", "statement"}
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_two_runs_give_the_same_record_but_for_times():
    for fields in ({}, {"search": "global"}):
        first, second = (timeless(ask(make_program(**graphrag(**fields)))) for _ in range(2))
        assert first == second


def test_asking_in_parallel_gives_the_same_record():
    one = timeless(ask(make_program()))
    four = timeless(ask(make_program(auxiliary={"parallel": 4})))
    assert one.pop("settings") != four.pop("settings")
    assert one == four


def test_a_shared_collection_is_indexed_once_and_found_again_by_another_process(tmp_path):
    script = Script()
    first = ask(make_program(script, Indexes(tmp_path, {COLLECTION.digest})))
    asked = len(script.asked)
    program = make_program(script, Indexes(tmp_path, {COLLECTION.digest}))
    second = ask(program, query_id="q2", position=1)
    assert len(script.asked) == asked + 1, "the reader alone"
    assert (first.tokens.index > 0, second.tokens.index) == (True, 0)
    assert second.evidence == first.evidence


@pytest.mark.parametrize("first", [find_names, NOTHING])
def test_an_index_comes_back_from_disk_as_it_was(tmp_path, first):
    program = make_program(Script(first=first))
    ask(program)
    index, codec = index_of(program), KnowledgeCodec(COLLECTION)
    codec.save(index, tmp_path)
    loaded = codec.load(tmp_path)
    assert (loaded.units, loaded.graph, loaded.communities) == (index.units, index.graph, index.communities)
    assert loaded.reports == index.reports
    assert (loaded.entity_vectors == index.entity_vectors).all()
    assert (loaded.unit_vectors == index.unit_vectors).all()
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".json", ".npy")]


def test_a_prompt_is_cut_to_a_small_context_instead_of_overflowing_it():
    text = " ".join(f"Aldith met Person{i}x by the mill." for i in range(400))
    script = Script(first=lambda r: found_graph(["Aldith", "Brannoc", "Corisande"]))
    program = make_program(script, context=1024, graphrag={}, lifecycle={"reader_budget": 300})
    record = ask(program, Collection(sources=(Source(source_id="a.md", text=text),)))
    assert record.tokens.index > 0
    assert record.parse_failures == 0
    assert all(call.error is None for call in record.calls)


def test_a_model_that_can_not_be_reached_makes_the_query_incomplete_with_its_reason():
    record = ask(make_program(Script(write=refuse)))
    assert record.status == "incomplete"
    assert "connection refused" in record.error
    assert record.tokens.index > 0


def test_predictors_are_visible_to_optimisers_by_name():
    assert [name for name, _ in make_program().named_predictors()] == [
        "reader.answer",
        "extraction.first",
        "extraction.missed",
        "descriptions.summarise",
        "reporting.write",
        "global_search.rate",
    ]


@pytest.mark.parametrize(
    ("budget", "tokens", "overlap"), [(12_000, 1200, 100), (2048, 327, 27), (1024, 163, 13), (1, 1, 0)]
)
def test_text_units_are_as_much_smaller_as_the_reader_reads_less(budget, tokens, overlap):
    settings = GraphragSettings()
    assert (settings.unit_tokens(budget), settings.unit_overlap(budget)) == (tokens, overlap)


@pytest.mark.parametrize("budget", [60, 300, 1024, 2048])
def test_three_whole_text_units_fit_what_the_reader_has_for_them(budget):
    settings = GraphragSettings()
    assert 3 * settings.unit_tokens(budget) <= budget * settings.text_unit_share


def test_the_collection_is_cut_into_units_of_that_size_and_the_reader_sees_several_whole():
    text = " ".join(f"Aldith met Brannoc and Person{i} by the mill." for i in range(60))
    collection = Collection(sources=(Source(source_id="a.md", text=text),))
    program = make_program(graphrag={}, lifecycle={"reader_budget": 240})
    record = ask(program, collection)
    units = {unit.text for unit in index_of(program).units}
    assert max(len(HashedEncoder().spans(unit)) for unit in units) == GraphragSettings().unit_tokens(240)
    shown = [item.text for item in record.evidence if item.derived is None]
    assert sum(one in units for one in shown) >= 3


def test_text_units_end_where_the_regions_of_other_methods_do():
    program = make_program(graphrag={}, tam={"boundaries": "sentences"})
    ask(program)
    assert all(unit.text.rstrip().endswith(".") for unit in index_of(program).units)


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ValidationError, match="chunk_overlap"):
        GraphragSettings(chunk_tokens=50, chunk_overlap=50)
    with pytest.raises(InputError, match="graphrag"):
        load_settings("tiny", ["graphrag.text_unit_share=0.9", "graphrag.community_share=0.2"])
    assert load_settings("tiny", ['graphrag.entity_types=["work"]']).graphrag.entity_types == ("work",)
