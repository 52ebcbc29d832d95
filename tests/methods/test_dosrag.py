"""DOSRAG: similarity fills the budget, the source gives the order, no text twice."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.contract import check_provenance
from programs.methods.base import NO_EVIDENCE
from programs.methods.dosrag.program import DOSRAG, fill, in_source_order, unseen
from programs.methods.indexes import Indexes
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.tam.segment import Segment, segment
from tests.support.questions import ask
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import collection_of, make_collection, small_settings


def make_program(indexes=None, **branches):
    model = LanguageModel(ScriptedEngine(lambda request: "the dome"))
    runtime = Runtime(small_settings(**branches), model, model, HashedEncoder(), OverlapCrossEncoder())
    return DOSRAG(runtime, "test", indexes)


def tokens(items):
    return sum(len(HashedEncoder().spans(item.text)) for item in items)


def test_the_nearest_sources_are_read_in_the_order_of_the_collection():
    collection = collection_of("the lens", "a ferry", "which dome holds the lens", "pear", "the dome")
    record = ask(make_program(dosrag={"budget": 9}), collection)
    assert [item.text for item in record.evidence] == ["the lens", "which dome holds the lens", "the dome"]


def test_the_least_similar_of_the_taken_regions_is_cut_and_not_the_last_of_the_document():
    collection = collection_of("lens pier tide star", "ferry pear frost hall", "dome lens")
    record = ask(make_program(dosrag={"budget": 4}), collection, "dome lens")
    assert [item.text for item in record.evidence] == ["lens pier", "dome lens"]


def test_neighbouring_windows_are_one_span_of_their_source_without_repeated_text():
    words = [f"w{i}" for i in range(30)]
    collection = collection_of(" ".join(words))
    record = ask(make_program(tam={"region_tokens": 8, "overlap_tokens": 3}), collection, "w0 w29")
    (span,) = record.evidence
    assert span.text == " ".join(words)


def test_windows_that_do_not_meet_stay_apart():
    words = ["dome", *(f"filler{i}" for i in range(24)), "lens"]
    settings = {"tam": {"region_tokens": 8, "overlap_tokens": 2}, "dosrag": {"budget": 16}}
    record = ask(make_program(**settings), collection_of(" ".join(words)), "dome lens")
    assert [item.text.split() for item in record.evidence] == [words[:8], words[18:]]


@pytest.mark.parametrize(("budget", "expected"), [(None, 40), (10, 10), (1000, 40)])
def test_the_budget_is_its_own_up_to_the_readers(budget, expected):
    record = ask(make_program(dosrag={"budget": budget}, lifecycle={"reader_budget": 40}))
    assert tokens(record.evidence) == expected


def test_a_budget_above_the_readers_does_not_push_the_nearest_region_out_of_it():
    collection = collection_of("a ferry", "a pear", "dome lens")
    record = ask(make_program(dosrag={"budget": 1000}, lifecycle={"reader_budget": 2}), collection, "dome lens")
    assert [item.text for item in record.evidence] == ["dome lens"]


def test_only_the_reader_is_asked():
    record = ask(make_program())
    assert [(call.role, call.phase) for call in record.calls] == [("reader", Phase.READER)]


@pytest.mark.parametrize("sources", [(), ("",), (" \n ", "\t")])
def test_a_collection_without_text_is_incomplete_and_says_so(sources):
    record = ask(make_program(), collection_of(*sources))
    assert (record.status, record.error) == ("incomplete", NO_EVIDENCE)


@pytest.mark.parametrize("text", ["one chunk", "圆顶里有一面透镜。渡船在码头。" * 9, "القبة تحمل العدسة " * 30])
def test_collections_of_one_chunk_or_of_other_scripts_work(text):
    collection = collection_of(text)
    record = ask(make_program(lifecycle={"reader_budget": 12}), collection)
    assert record.status == "completed"
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_I5_two_runs_are_equal_but_for_their_times():
    assert timeless(ask(make_program())) == timeless(ask(make_program()))


def test_an_index_that_was_saved_gives_the_same_evidence_when_it_is_loaded(tmp_path):
    collection = make_collection()
    first = ask(make_program(Indexes(tmp_path, {collection.digest})), collection)
    second = ask(make_program(Indexes(tmp_path, {collection.digest})), collection, position=1)
    assert [entry.name for entry in tmp_path.iterdir()] == [f"{collection.digest}@0"]
    assert second.evidence == first.evidence
    assert second.encoder_tokens < first.encoder_tokens


def covered(regions):
    return {(region.source_id, i) for region in regions for i in range(region.start, region.end)}


RANDOMS = st.randoms(use_true_random=False)
SOURCES = st.lists(st.text(alphabet="ab .\n透", max_size=60), min_size=1, max_size=3)


@given(sources=SOURCES, size=st.integers(1, 6), overlap=st.integers(0, 5), order=RANDOMS, budget=st.integers(1, 40))
def test_I6_spans_are_a_prefix_of_the_ranking_disjoint_in_source_order_and_within_the_budget(
    sources, size, overlap, order, budget
):
    collection, encoder = collection_of(*sources), HashedEncoder()
    regions = segment(collection, encoder, size, min(overlap, size - 1))
    order.shuffle(regions)
    spans = in_source_order(fill(regions, budget, encoder, collection.texts), collection.texts)
    for span in spans:
        check_provenance(span.record(), collection.texts)
    assert sum(span.end - span.start for span in spans) == len(covered(spans))
    places = [(list(collection.texts).index(span.source_id), span.start) for span in spans]
    assert places == sorted(places)
    assert tokens(spans) <= budget
    prefixes = [covered(regions[:n]) for n in range(len(regions) + 1)]
    assert prefixes[-1] == covered(spans) or any(a <= covered(spans) <= b for a, b in pairwise(prefixes))


@given(sources=SOURCES, size=st.integers(1, 6), overlap=st.integers(0, 5), order=RANDOMS)
def test_a_budget_for_everything_takes_every_region_whole(sources, size, overlap, order):
    collection, encoder = collection_of(*sources), HashedEncoder()
    regions = segment(collection, encoder, size, min(overlap, size - 1))
    order.shuffle(regions)
    spans = in_source_order(fill(regions, 10_000, encoder, collection.texts), collection.texts)
    assert covered(spans) == covered(regions)


@given(size=st.integers(1, 6), overlap=st.integers(0, 5), order=RANDOMS)
def test_what_is_unseen_of_a_window_is_what_no_taken_one_covers(size, overlap, order):
    collection, encoder = collection_of("a b c d e f g h i j k l m n o p"), HashedEncoder()
    windows = segment(collection, encoder, size, min(overlap, size - 1))
    order.shuffle(windows)
    taken: list[Segment] = []
    for window in windows:
        start, end = unseen(window, taken)
        assert {("s0", i) for i in range(start, end)} == covered([window]) - covered(taken)
        if start < end:
            taken.append(Segment("s0", start, end, collection.texts["s0"][start:end]))
