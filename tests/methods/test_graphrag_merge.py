"""From completions to one graph: merging by title, and combining descriptions."""

from __future__ import annotations

import re

import dspy
from hypothesis import given
from hypothesis import strategies as st

from programs.methods.base import QueryRun
from programs.methods.graphrag.asking import Asking
from programs.methods.graphrag.describe import Descriptions
from programs.methods.graphrag.merge import Merged, merge, title
from programs.methods.graphrag.settings import GraphragSettings
from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel
from programs.models.runtime import Runtime
from programs.workloads.query import Query
from signatures.baselines.graphrag import FoundGraph
from tests.support.scripted import HashedEncoder, ScriptedEngine
from tests.support.worlds import make_collection, small_settings


def graph(entities=(), relationships=()):
    return FoundGraph.model_validate(
        {
            "entities": [dict(zip(("name", "type", "description"), row, strict=True)) for row in entities],
            "relationships": [
                dict(zip(("source", "target", "description", "strength"), row, strict=True)) for row in relationships
            ],
        }
    )


def asking_with(script, context=8192):
    engine = ScriptedEngine(script, context=context)
    model = LanguageModel(engine)
    query = Query(query_id="q", question="who?", collection=make_collection(1), position=0)
    runtime = Runtime(small_settings(), model, model, HashedEncoder(), None)
    return Asking(QueryRun(query, runtime)), engine


def describe(merged, script, context=8192, **settings):
    asking, engine = asking_with(script, context)
    with dspy.context(adapter=TemplateAdapter()):
        return Descriptions().describe(merged, asking, GraphragSettings(**settings)), engine


def test_names_that_differ_in_case_space_and_quotes_are_one_entity():
    merged = merge(
        [
            [graph([("Maren  Ilsevik", "person", "a cellist")])],
            [graph([('"MAREN ILSEVIK"', "Person", "a teacher"), ("maren ilsevik ", "geo", "a cellist")])],
        ]
    )
    (entity,) = merged.entities
    assert (entity.title, entity.type) == ("MAREN ILSEVIK", "person")
    assert list(entity.descriptions) == ["a cellist", "a teacher"]
    assert list(entity.units) == [0, 1]


def test_both_directions_of_a_pair_are_one_relationship_whose_strengths_add_up():
    entities = [("a", "t", ""), ("b", "t", "")]
    merged = merge(
        [
            [graph(entities, [("A", "b", "taught", 3)])],
            [],
            [graph((), [("B", "a", "learnt from", 4), ("a", "a", "x", 9)])],
        ]
    )
    (pair,) = merged.relationships
    assert (pair.source, pair.target, pair.weight, list(pair.units)) == ("A", "B", 7.0, [0, 2])
    assert list(pair.descriptions) == ["taught", "learnt from"]


def test_relationships_of_names_that_were_never_listed_are_dropped():
    merged = merge(
        [[graph([("a", "t", "")], [("a", "ghost", "sees", 5)])], [graph([("c", "t", "")], [("a", "c", "met", 5)])]]
    )
    assert [(pair.source, pair.target) for pair in merged.relationships] == [("A", "C")]


def test_nothing_found_is_an_empty_graph():
    assert merge([]) == merge([[], []]) == Merged((), ())
    assert merge([[graph([('""', "t", "nothing but marks")])]]) == Merged((), ())


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(lambda text: text.strip())


@given(NAMES)
def test_a_title_is_its_own_title(name):
    assert title(title(name)) == title(name)


@given(st.lists(st.lists(st.tuples(NAMES, NAMES, st.text(max_size=20)), max_size=5), max_size=4))
def test_every_mention_is_in_exactly_one_entity_and_no_title_is_repeated(units):
    merged = merge([[graph(rows)] for rows in units])
    titles = [entity.title for entity in merged.entities]
    assert len(titles) == len(set(titles))
    for unit, rows in enumerate(units):
        for name, _, _ in rows:
            if title(name):
                assert unit in merged.entities[titles.index(title(name))].units


def test_one_description_is_kept_as_it_is_and_several_are_combined_by_one_call():
    merged = merge(
        [
            [graph([("a", "t", "first"), ("b", "t", "alone")], [("a", "b", "one", 1)])],
            [graph([("a", "t", "second")], [("a", "b", "two", 1)])],
        ]
    )
    described, engine = describe(merged, lambda request: " all of\n it ")
    assert [entity.description for entity in described.entities] == ["all of it", "alone"]
    assert [pair.description for pair in described.relationships] == ["all of it"]
    prompts = [request.messages[-1].content for request in engine.requests]
    assert len(prompts) == 2
    assert "Subject:\nA\n\nDescriptions:\n- first\n- second" in prompts[0]
    assert "Subject:\nA – B\n\nDescriptions:\n- one\n- two" in prompts[1]


def test_an_empty_summary_leaves_the_descriptions_side_by_side():
    merged = merge([[graph([("a", "t", "first")])], [graph([("a", "t", "second")])]])
    described, _ = describe(merged, lambda request: "  ")
    assert described.entities[0].description == "first second"


def test_descriptions_that_do_not_fit_one_call_are_folded_in_rounds():
    facts = [f"fact{i} word word word" for i in range(7)]
    merged = merge([[graph([("a", "t", fact)])] for fact in facts])

    def join_facts(request):
        return " ".join(re.findall(r"fact\d", request.messages[-1].content))

    described, engine = describe(merged, join_facts, description_input_tokens=16)
    assert described.entities[0].description == "fact0 fact1 fact2 fact3 fact4 fact5 fact6"
    assert len(engine.requests) == 2, "four facts of four words, then a summary of four words and three facts"


def test_descriptions_far_above_the_room_still_come_to_an_end():
    long = "word " * 30
    merged = merge([[graph([("a", "t", f"{i} {long}")])] for i in range(4)])
    described, engine = describe(merged, lambda request: "short", description_input_tokens=16)
    assert described.entities[0].description == "short"
    assert 1 <= len(engine.requests) <= 3


def test_inputs_are_cut_to_what_the_context_holds():
    asking, _ = asking_with(lambda request: "x", context=1024)
    assert asking.completion(2000) == 512
    assert asking.room(8000, 2000) == int((1024 - 512 - 300) * 0.75)
    assert asking.room(50, 100) == 50
    assert asking.head("one two three", 2) == "one two"
    assert asking.fill(["one two", "three four", "five"], 4) == ["one two", "three four"]
    assert asking.fill(["one two three"], 2) == ["one two"]
    assert asking.fill([], 2) == []
