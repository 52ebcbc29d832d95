"""The scores of a query and the table of a run: what is defined, what counts as 0, and what is divided by."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.metric import METRICS
from metrics.record import Support, SupportStatus
from metrics.scores import ScoreTable, collect_tables, score
from tests.metrics.records import a_baseline_record, a_record, a_reference, a_rejection, a_summary, an_evidence
from tests.metrics.records import an_incomplete_record as incomplete

ANSWER = {name for name, metric in METRICS.items() if metric.group == "answer"}
EVIDENCE = {name for name, metric in METRICS.items() if metric.group == "evidence"}
RECALLS = {"recall@1", "recall@2", "recall@5", "recall@10"}


def test_a_query_has_every_metric_that_its_reference_defines():
    judged = a_record(support=Support(status=SupportStatus.SUPPORTED, probability=0.9))
    assert set(score(judged, a_reference())) == set(METRICS)
    assert list(METRICS) == [metric.name for metric in METRICS.values()]


@pytest.mark.parametrize(
    ("reference", "absent"),
    [
        (None, ANSWER | EVIDENCE),
        (a_reference(answers=[]), ANSWER | {"answer_in_evidence"}),
        (a_reference(passages=[]), {"passage_found", "title_recall", "passage_recall", "title_mention"}),
        (a_reference(supporting=[]), {"source_recall", *RECALLS}),
        (a_reference(answers=[], passages=[], supporting=[]), ANSWER | EVIDENCE),
    ],
)
def test_a_metric_that_the_reference_does_not_define_has_no_key(reference, absent):
    assert set(METRICS) - set(score(a_record(), reference)) == absent | {"told_right"}


def test_the_scores_of_a_query():
    evidence = [an_evidence(), a_summary("The Ferry ran.", "rivers"), an_evidence("banks", 7, "x")]
    found = score(a_record(evidence=evidence), a_reference())
    expected = {
        "em": 1,
        "f1": 1,
        "accuracy": 1,
        "anls": 1,
        "anls_standard": 11 / 15,
        "title_recall": 0.5,
        "passage_found": 0.5,
        "passage_recall": 0.5,
        "title_mention": 1,
        "answer_in_evidence": 1,
        "source_recall": 1,
        "recall@1": 0.5,
        "recall@10": 1,
        "ret": 250,
        "latency": 1.75,
        "memory_reads": 4,
        "memory_hits": 1,
        "evidence_records": 3,
        "calls": 4,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_an_incomplete_query_scores_0_in_every_quality_metric_whatever_it_says():
    whole = a_record(status="incomplete")
    assert whole.answer
    assert whole.evidence
    scores = score(whole, a_reference())
    assert {name: scores[name] for name in ANSWER | EVIDENCE} == dict.fromkeys(ANSWER | EVIDENCE, 0.0)
    assert scores["incomplete"] == 1.0


def test_an_incomplete_query_keeps_its_tokens_and_its_time():
    scores = score(incomplete(), a_reference())
    assert (scores["tokens_index"], scores["tokens_aux"], scores["tokens_reader"]) == (100, 100, 0)
    assert scores["latency"] == 1.75


def test_an_empty_answer_scores_0_and_its_evidence_counts():
    scores = score(a_record(answer=""), a_reference())
    assert {name: scores[name] for name in ANSWER} == dict.fromkeys(ANSWER, 0.0)
    assert scores["title_recall"] == 0.5


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=3), st.booleans())
def test_scores_stay_in_the_range_of_their_kind(answer, answers, completed):
    record = a_record(answer=answer, status="completed" if completed else "incomplete")
    for name, value in score(record, a_reference(answers=answers)).items():
        kind = METRICS[name].kind
        assert value in (0, 1) if kind == "binary" else value >= 0, name
        assert kind != "fraction" or value <= 1, name


def numbered(count, **changes):
    return [(a_record(query_id=f"q{i}", position=i, **changes), a_reference(query_id=f"q{i}")) for i in range(count)]


def test_a_table_keeps_the_order_of_its_records_and_takes_them_one_at_a_time():
    alive = []

    def stream():
        for i, pair in enumerate(numbered(5)):
            alive.append(i)
            yield pair

    table = ScoreTable.collect("staterag", "aviary", stream())
    assert len(table) == len(alive) == 5
    assert table.query_ids == ["q0", "q1", "q2", "q3", "q4"]
    assert table.positions == [0, 1, 2, 3, 4]
    assert (table.method, table.workload) == ("staterag", "aviary")
    assert list(table.values) == list(METRICS)
    assert {column.shape for column in table.values.values()} == {(5,)}
    assert {column.dtype for column in table.values.values()} == {np.dtype(np.float64)}


def test_incomplete_and_empty_queries_stay_in_the_denominator():
    references = [a_reference(query_id=name) for name in ("right", "empty", "incomplete", "wrong")]
    records = [
        a_record(query_id="right"),
        a_record(query_id="empty", answer=""),
        incomplete(query_id="incomplete", answer="Brass Heron"),
        a_record(query_id="wrong", answer="a finch"),
    ]
    table = ScoreTable.collect("staterag", "aviary", zip(records, references, strict=True))
    assert table.mean("em") == 0.25
    assert table.mean("incomplete") == 0.25
    assert table.mean("reader_calls") == 0.75
    assert table.mean("title_recall") == 0.375
    assert table.mean("calls") == 3.5


def test_a_query_that_a_metric_is_not_defined_for_is_not_in_its_denominator():
    pairs = [
        (a_record(query_id="a"), a_reference(query_id="a")),
        (a_record(query_id="b"), a_reference(query_id="b", answers=[])),
        (a_record(query_id="c"), None),
    ]
    table = ScoreTable.collect("staterag", "aviary", pairs)
    assert table.values["em"].tolist()[0] == 1.0
    assert np.isnan(table.values["em"][1:]).all()
    assert table.mean("em") == 1.0
    assert table.mean("source_recall") == 0.5
    assert table.mean("calls") == 4.0


def test_a_metric_that_no_query_has_is_nan_and_not_among_the_defined():
    table = ScoreTable.collect("staterag", "aviary", [(a_record(), None)])
    assert math.isnan(table.mean("em"))
    assert not ANSWER & set(table.defined)
    assert list(table.defined) == [name for name in METRICS if name in table.defined]
    assert "ret" in table.defined


def test_a_table_of_nothing_has_no_means():
    table = ScoreTable.collect("staterag", "aviary", [])
    assert len(table) == 0
    assert table.defined == ()
    assert math.isnan(table.mean("em"))
    assert math.isnan(table.hit_rate())


def test_a_query_without_a_cluster_is_its_own_even_if_another_is_named_like_it():
    pairs = [
        (a_record(query_id="a"), a_reference(query_id="a", cluster="paper")),
        (a_record(query_id="b"), a_reference(query_id="b", cluster="paper")),
        (a_record(query_id="paper"), a_reference(query_id="paper")),
        (a_record(query_id="d"), None),
    ]
    clusters = ScoreTable.collect("staterag", "aviary", pairs).clusters
    assert clusters[0] == clusters[1]
    assert len(set(clusters)) == 3


def test_one_question_type_can_be_looked_at_alone():
    kinds = ["bridge", "comparison", None, "bridge"]
    pairs = [
        (a_record(query_id=f"q{i}", answer="heron" if i else ""), a_reference(query_id=f"q{i}", question_type=kind))
        for i, kind in enumerate(kinds)
    ]
    table = ScoreTable.collect("staterag", "aviary", pairs)
    bridge = table.only("bridge")
    assert bridge.query_ids == ["q0", "q3"]
    assert bridge.mean("em") == 0.5
    assert table.only(None).query_ids == ["q2"]
    assert len(table.only("riddle")) == 0
    assert math.isnan(table.only("riddle").mean("em"))
    assert table.mean("em") == 0.75


def test_the_hit_rate_of_a_run_weighs_reads_and_not_queries():
    uses = [{"reads": 1, "hits": 1}, {"reads": 19, "hits": 1}, {"reads": 0, "hits": 0}]
    pairs = [(a_record(query_id=f"q{i}", memory=use), None) for i, use in enumerate(uses)]
    assert ScoreTable.collect("staterag", "aviary", pairs).hit_rate() == pytest.approx(2 / 20)


def test_rejections_are_counted_by_reason():
    ends = [["malformed"], [], ["malformed"], ["over_cap"]]
    pairs = [
        (incomplete(query_id=f"q{i}", rejections=[a_rejection(reason) for reason in reasons]), None)
        for i, reasons in enumerate(ends)
    ]
    table = ScoreTable.collect("staterag", "aviary", pairs)
    assert table.rejections_by_reason() == {"malformed": 2, "over_cap": 1}


def test_a_query_that_comes_twice_is_an_error():
    with pytest.raises(ValueError, match="'q1' comes twice"):
        ScoreTable.collect("staterag", "aviary", [(a_record(), None), (a_record(), None)])


def test_a_reference_of_another_query_is_an_error():
    with pytest.raises(ValueError, match="'q1' came with the reference of 'q2'"):
        ScoreTable.collect("staterag", "aviary", [(a_record(), a_reference(query_id="q2"))])


def test_one_pass_gives_each_method_the_table_that_it_would_have_alone():
    ours, theirs = numbered(3), [(a_baseline_record(query_id=f"q{i}"), a_reference(query_id=f"q{i}")) for i in range(2)]
    mixed = [theirs[0], ours[0], ours[1], theirs[1], ours[2]]
    tables = collect_tables("aviary", mixed)
    assert [(table.method, table.workload, len(table)) for table in tables] == [
        ("vanilla", "aviary", 2),
        ("staterag", "aviary", 3),
    ]
    for table, pairs in zip(tables, (theirs, ours), strict=True):
        alone = ScoreTable.collect(table.method, "aviary", pairs)
        assert table.query_ids == alone.query_ids
        for name in METRICS:
            np.testing.assert_array_equal(table.values[name], alone.values[name])


@pytest.mark.parametrize("status", SupportStatus)
@pytest.mark.parametrize("answerable", [True, False])
def test_whether_an_answer_is_there_is_told_right_or_not(status, answerable):
    support = Support(status=status, probability=0.5)
    told = score(a_record(support=support), a_reference(answerable=answerable))["told_right"]
    assert told == float((status is not SupportStatus.NOT_FOUND) == answerable)


def test_where_nothing_judged_the_answer_nothing_was_told():
    assert "told_right" not in score(a_record(), a_reference())
