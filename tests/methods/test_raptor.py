"""RAPTOR whole, on a scripted model: how the tree grows, what is retrieved from it, and what is charged."""

from __future__ import annotations

import numpy as np
import pytest

from programs.contract import check_provenance
from programs.documents.collection import Collection, Source
from programs.methods.base import NO_EVIDENCE, QueryRun
from programs.methods.indexes import Indexes
from programs.methods.raptor.program import Raptor
from programs.methods.raptor.settings import RaptorSettings
from programs.methods.raptor.tree import Summary, Tree, TreeCodec, grow
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.state import Address
from programs.tam.segment import Segment
from programs.workloads.query import Query
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine, words
from tests.support.worlds import make_collection, small_settings

QUESTION = "Which dome holds the lens?"
SMALL = {"leaf_tokens": 12, "dimension": 4, "max_clusters": 8}
ENCODER = HashedEncoder()


def summarise_shortly(request) -> str:
    """Name the first words of each passage."""
    if not request.messages[0].content.startswith("You summarise"):
        return "the dome"
    passages = request.messages[-1].content.removeprefix("Passages:\n").removesuffix("\n\nSUMMARY:").split("\n\n")
    return "All of: " + " ".join(" ".join(words(passage)[:4]) for passage in passages)


def make_program(script=summarise_shortly, indexes=None, context=8192, **branches) -> tuple[Raptor, ScriptedEngine]:
    engine = ScriptedEngine(script, context=context)
    model = LanguageModel(engine)
    settings = small_settings(**{"raptor": SMALL, **branches})
    return Raptor(Runtime(settings, model, model, ENCODER, OverlapCrossEncoder()), "test", indexes), engine


def query(collection=None, question=QUESTION, position=0) -> Query:
    return Query(
        query_id=f"q{position}",
        question=question,
        collection=make_collection() if collection is None else collection,
        position=position,
    )


def tree_of(program: Raptor, collection=None) -> Tree:
    asked = query(collection)
    program.run(asked)
    return program.indexes.get(asked.collection.digest, 0, lambda: None)


def small_tree() -> Tree:
    """Three leaves of two sources, a summary of two of them, and a summary of everything."""
    leaves = (
        Segment("a", 0, 9, "lens dome"),
        Segment("a", 10, 20, "lens ferry"),
        Segment("b", 0, 10, "pear frost"),
    )
    summaries = (Summary("lens dome star", 1, (0, 1)), Summary("pear star", 2, (2, 3)))
    texts = [leaf.text for leaf in leaves] + [summary.text for summary in summaries]
    return Tree(leaves, summaries, ENCODER.encode_passages(texts))


def selected(program: Raptor, tree: Tree, question: str):
    return program.select(QueryRun(query(question=question), program.runtime), tree)


def test_nodes_of_every_layer_compete_by_cosine():
    program, _ = make_program()
    # Cosines with "lens dome" by hand: 1, 1/2, 0, 2/√6 = 0.82, 0. The two zeros keep the order of the nodes.
    texts = [record.text for record in selected(program, small_tree(), "lens dome")]
    assert texts == ["lens dome", "lens dome star", "lens ferry", "pear frost", "pear star"]


def test_retrieval_ends_at_the_first_node_that_would_be_too_much():
    program, _ = make_program(raptor={**SMALL, "max_tokens": 6})
    assert [r.text for r in selected(program, small_tree(), "lens dome")] == ["lens dome", "lens dome star"]
    program, _ = make_program(raptor={**SMALL, "top_k": 1})
    assert [r.text for r in selected(program, small_tree(), "lens dome")] == ["lens dome"]


def test_a_first_node_that_is_too_long_is_left_to_the_readers_budget():
    program, _ = make_program(raptor={**SMALL, "max_tokens": 1})
    assert [r.text for r in selected(program, small_tree(), "lens dome")] == ["lens dome"]


def test_a_summary_names_every_leaf_below_it_and_says_that_it_is_one():
    tree = small_tree()
    top = tree.record(4)
    assert top.derived.kind == "summary"
    assert top.derived.regions == (
        Address(source_id="a", start=0, end=9),
        Address(source_id="a", start=10, end=20),
        Address(source_id="b", start=0, end=10),
    )
    assert (top.source_id, top.start, top.end) == ("a", 0, 9)
    assert top.evidence_id.startswith("summary:")
    assert top.evidence_id != tree.record(3).evidence_id
    assert tree.record(1).derived is None


def test_layers_grow_until_one_is_small_enough():
    program, _ = make_program()
    tree = tree_of(program)
    sizes = [len(tree.leaves)]
    for layer in range(1, 6):
        sizes.append(sum(summary.layer == layer for summary in tree.summaries))
    built = [size for size in sizes if size]
    assert len(tree.leaves) > 20
    assert all(size > SMALL["dimension"] + 1 for size in built[:-1])
    assert built[-1] <= SMALL["dimension"] + 1 or len(built) == 6
    assert len(tree.vectors) == sum(sizes)


def test_every_node_below_the_top_has_a_parent_one_layer_up():
    program, _ = make_program()
    tree = tree_of(program)
    layers = [0] * len(tree.leaves) + [summary.layer for summary in tree.summaries]
    parented = set()
    for number, summary in enumerate(tree.summaries, start=len(tree.leaves)):
        assert {layers[child] for child in summary.children} == {layers[number] - 1}
        parented.update(summary.children)
    assert parented == {node for node, layer in enumerate(layers) if layer < max(layers)}


def test_the_layers_are_capped_and_none_at_all_is_plain_retrieval_of_leaves():
    program, _ = make_program(raptor={**SMALL, "layers": 1})
    assert {summary.layer for summary in tree_of(program).summaries} == {1}
    program, engine = make_program(raptor={**SMALL, "layers": 0})
    assert tree_of(program).summaries == ()
    assert len(engine.requests) == 1


def test_a_summary_is_asked_for_once_a_cluster_and_charged_as_index_work():
    program, engine = make_program()
    record = program.run(query())
    tree = program.indexes.get(make_collection().digest, 0, lambda: None)
    calls = [call for call in record.calls if call.role == "summary"]
    assert len(calls) == len(tree.summaries)
    assert {call.phase for call in calls} == {Phase.INDEX}
    assert [call.role for call in record.calls if call.phase is not Phase.INDEX] == ["reader"]
    assert len(engine.requests) == len(record.calls)
    assert record.tokens.index > 0


def test_no_cluster_is_longer_than_what_the_models_context_holds():
    program, engine = make_program(context=512, lifecycle={"reader_budget": 64})
    record = program.run(query())
    assert record.status == "completed"
    assert not any(call.error for call in record.calls)
    longest = max(len(ENCODER.spans(r.messages[-1].content)) for r in engine.requests[:-1])
    assert longest <= (512 - 100 - 256) * 0.8 + 2


def test_clusters_whose_summary_is_empty_are_gone_without():
    def silent_of_ferries(request):
        return "  " if "ferry" in request.messages[-1].content else summarise_shortly(request)

    program, _ = make_program(silent_of_ferries)
    tree = tree_of(program)
    assert tree.summaries
    assert not any("ferry" in summary.text for summary in tree.summaries)
    program, _ = make_program(lambda request: "" if "SUMMARY" in request.messages[-1].content else "the dome")
    assert tree_of(program).summaries == ()


def test_a_cluster_that_does_not_fit_after_all_is_gone_without():
    long = Collection(
        sources=tuple(Source(source_id=f"{i}", text=f"{i} " + "internationalism " * 130) for i in range(8))
    )
    program, _ = make_program(context=512, raptor={**SMALL, "leaf_tokens": 130}, lifecycle={"reader_budget": 16})
    record = program.run(query(long))
    assert any(call.error for call in record.calls if call.role == "summary")
    assert record.status == "completed"


def test_the_evidence_is_leaves_and_summaries_with_an_address_each():
    collection = make_collection()
    program, _ = make_program()
    record = program.run(query(collection, "All of: note observatory lens dome star"))
    assert record.status == "completed"
    assert {item.derived is None for item in record.evidence} == {True, False}
    for item in record.evidence:
        check_provenance(item, collection.texts)
    assert sum(len(ENCODER.spans(item.text)) for item in record.evidence) <= 2000


def test_I5_two_runs_are_equal_but_for_their_times():
    first, second = (timeless(make_program()[0].run(query())) for _ in range(2))
    assert first == second


def test_a_shared_tree_is_grown_once_and_found_again_by_another_process(tmp_path):
    collection = make_collection()
    program, _ = make_program(indexes=Indexes(tmp_path, shared={collection.digest}))
    first = program.run(query(collection))
    second = program.run(query(collection, position=1))
    assert first.tokens.index > 0
    assert second.tokens.index == 0
    other, engine = make_program(indexes=Indexes(tmp_path, shared={collection.digest}))
    again = other.run(query(collection, position=1))
    assert timeless(again) == timeless(second)
    assert len(engine.requests) == 1


def test_a_tree_is_the_same_after_it_was_written_and_read(tmp_path):
    program, _ = make_program()
    collection = make_collection()
    tree = tree_of(program, collection)
    TreeCodec(collection).save(tree, tmp_path)
    read = TreeCodec(collection).load(tmp_path)
    assert (read.leaves, read.summaries) == (tree.leaves, tree.summaries)
    np.testing.assert_array_equal(read.vectors, tree.vectors)


@pytest.mark.parametrize("sources", [(), ("",), (" \n\t ", "")])
def test_a_collection_without_text_has_no_evidence_and_no_calls(sources):
    collection = Collection(sources=tuple(Source(source_id=f"{i}", text=text) for i, text in enumerate(sources)))
    program, engine = make_program()
    record = program.run(query(collection))
    assert (record.status, record.error, record.evidence) == ("incomplete", NO_EVIDENCE, [])
    assert engine.requests == []


def test_one_leaf_is_the_whole_tree():
    collection = Collection(sources=(Source(source_id="a", text="The lens is in the dome."),))
    program, _ = make_program()
    record = program.run(query(collection))
    assert [item.evidence_id for item in record.evidence] == ["a#0-24"]
    assert record.tokens.index == 0


@pytest.mark.parametrize("text", ["镜头在圆顶里。渡轮在港口。" * 9, "العدسة في القبة. العبارة في الميناء؟ "])
def test_other_scripts_grow_a_tree_with_exact_addresses(text):
    collection = Collection(sources=tuple(Source(source_id=f"{i}", text=f"{i}: " + text * 6) for i in range(4)))
    program, _ = make_program(raptor={**SMALL, "leaf_tokens": 8})
    record = program.run(query(collection))
    assert record.status == "completed"
    assert any(call.role == "summary" for call in record.calls)
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_a_tree_may_join_sources_though_no_leaf_does():
    program, _ = make_program()
    tree = tree_of(program)
    joined = [
        s
        for s in range(len(tree.leaves), len(tree.vectors))
        if len({tree.leaves[n].source_id for n in tree.below(s)}) > 1
    ]
    assert joined


def test_the_predictor_is_visible_to_optimisers_by_name():
    program, _ = make_program()
    assert [name for name, _ in program.named_predictors()] == ["reader.answer", "summarise"]


def test_nothing_is_clustered_where_the_leaves_are_few():
    def refuse(clusters):
        raise AssertionError("a layer of eleven nodes is the top")

    leaves = [Segment("a", i, i + 1, f"leaf {i}") for i in range(11)]
    assert grow(leaves, ENCODER, RaptorSettings(), 3500, refuse).summaries == ()
