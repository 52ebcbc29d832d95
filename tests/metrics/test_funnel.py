"""The loss funnel, on records whose losses are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.funnel import STAGES, Funnel, fate
from metrics.scores import score
from metrics.stages import gold
from tests.metrics.records import (
    a_baseline_record,
    a_commit,
    a_passage,
    a_record,
    a_reference,
    a_rejection,
    a_summary,
    a_verdict,
    an_evidence,
    an_incomplete_record,
    changed,
)

LENGTH = 20
PLACES = range(6)
"""Six passages of a source, of one length, one after another; each is a region by itself."""


def region(place):
    return an_evidence("birds", place * LENGTH, "x" * LENGTH)


def name(place):
    return region(place).evidence_id


def needs(*places, **changes):
    passages = [[a_passage("x" * 4, place * LENGTH, (place + 1) * LENGTH)] for place in places]
    return a_reference(**{"passages": passages} | changes)


def a_search(scored=(), candidates=(), cycle=1):
    return [
        {"cycle": cycle, "role": "navigator", "evidence_ids": [name(place) for place in scored]},
        {"cycle": cycle, "role": "retriever", "evidence_ids": [name(place) for place in candidates]},
    ]


def a_run(scored=(), candidates=(), kept=((0,),), admitted=None, action="RELEASE", **changes):
    """Make a record from the places at each stage; `kept` has those of each cycle."""
    cycles = range(1, len(kept) + 1)
    states = [
        commit
        for cycle, places in zip(cycles, kept, strict=True)
        for commit in (
            a_commit("path", [[0, 90, 1 + place] for place in scored[:1]], cycle),
            a_commit("evidence", [region(place) for place in places], cycle),
            a_verdict("PASS" if action == "RELEASE" and cycle == len(kept) else "FAIL", cycle),
        )
    ]
    last = kept[-1] if action == "RELEASE" else dict.fromkeys(place for places in kept for place in places)
    evidence = [region(place) for place in (last if admitted is None else admitted)]
    found = {"states": states, "evidence": evidence, "action": action, "considered": a_search(scored, candidates)}
    return a_record(**found | changes)


def counts(funnel, tally=None):
    return {stage: (tally or funnel.whole).survivors(stage) for stage in funnel.stages}


def test_each_passage_is_lost_where_it_was_last_there():
    record = a_run(scored=(0, 1, 2, 3, 4), candidates=(0, 1, 2, 3), kept=((1, 2), (0, 1)), admitted=(0,))
    found = fate(record, needs(0, 1, 2, 3, 4, 5))
    assert found.furthest == ("admitted", "carried", "kept", "candidates", "reached", "completed")
    assert not found.is_sufficient


def test_counts_fall_from_stage_to_stage():
    funnel = Funnel("staterag", "aviary")
    record = a_run(scored=(0, 1, 2, 3, 4), candidates=(0, 1, 2, 3), kept=((1, 2), (0, 1)), admitted=(0,))
    funnel.add(record, needs(*PLACES))
    assert funnel.stages == STAGES
    assert list(counts(funnel).values()) == [6, 6, 5, 4, 3, 2, 1]


def test_a_passage_may_come_through_a_region_without_being_scored_or_ending_a_trace():
    funnel = Funnel("staterag", "aviary")
    funnel.add(a_run(scored=(0, 1), candidates=(0, 2), kept=((2,),)), needs(0, 1, 2))
    assert counts(funnel)["reached"] == 3
    assert (funnel.whole.scored, funnel.whole.on_path) == (2, 1)


def test_a_fallback_carries_what_any_cycle_kept_and_a_release_only_the_last():
    reference = needs(0, 1)
    kept = {"kept": ((0,), (1,)), "candidates": (0, 1)}
    assert fate(a_run(action="FALLBACK", **kept), reference).furthest == ("admitted", "admitted")
    assert fate(a_run(action="RELEASE", **kept), reference).furthest == ("kept", "admitted")


def test_a_record_that_the_budget_cut_to_less_than_half_is_not_admitted():
    cut = changed(region(1), text="x" * 9, end=LENGTH + 9)
    record = changed(a_run(candidates=(0, 1), kept=((0, 1),)), evidence=[region(0), cut])
    assert fate(record, needs(0, 1)).furthest == ("admitted", "carried")
    assert fate(record, needs(0, 1), "title").furthest == ("admitted", "admitted")


def test_the_gold_of_an_incomplete_query_is_lost_at_once_and_says_to_whom():
    funnel = Funnel("staterag", "aviary")
    found = a_search(scored=(0, 1), candidates=(0, 1))
    funnel.add(an_incomplete_record(considered=found, rejections=[a_rejection("malformed")]), needs(0, 1))
    funnel.add(an_incomplete_record(query_id="q2", rejections=[], error="no server"), needs(3, query_id="q2"))
    assert counts(funnel)["gold"] == 3
    assert counts(funnel)["completed"] == counts(funnel)["admitted"] == 0
    assert funnel.whole.ended_by == {"planner": 2, "fault": 1}
    assert (funnel.whole.scored, funnel.whole.on_path) == (0, 0)


def test_a_bypass_passes_every_stage():
    funnel = Funnel("staterag", "aviary")
    funnel.add(a_run(scored=(0,), candidates=(0,), kept=((0,),)), needs(0))
    bypassed = a_record(query_id="q2", action="BYPASS", states=[], evidence=[region(1)])
    funnel.add(bypassed, needs(1, 2, query_id="q2"))
    assert counts(funnel) == dict.fromkeys(STAGES, 2) | {"gold": 3, "completed": 3}


def test_a_method_without_a_state_has_only_what_it_admitted():
    funnel = Funnel("vanilla", "aviary")
    funnel.add(a_baseline_record(evidence=[region(0), a_summary("herons", start=20, end=40)]), needs(0, 1))
    assert counts(funnel) == {"gold": 2, "completed": 2, "admitted": 1}
    assert funnel.whole.verdicts.count() == 0


def test_any_passage_of_a_repeated_title_will_do_and_a_title_without_one_is_never_reached():
    either = [*needs(4).passages[0], *needs(0).passages[0]]
    reference = changed(needs(0), passages=[either, []])
    assert fate(a_run(candidates=(0,)), reference).furthest == ("admitted", "completed")


def test_sources_are_the_gold_of_a_corpus():
    reference = a_reference(passages=[], supporting=["birds", "rivers"])
    assert fate(a_run(candidates=(0,)), reference).furthest == ("admitted", "completed")


def test_types_are_counted_apart_and_together():
    funnel = Funnel("staterag", "aviary")
    for at, kind in enumerate(["bridge", "bridge", None]):
        reference = needs(0, 1, query_id=f"q{at}", question_type=kind)
        funnel.add(a_run(candidates=(0, 1), query_id=f"q{at}"), reference)
    assert {kind: counts(funnel, tally)["admitted"] for kind, tally in funnel.types.items()} == {"bridge": 2, None: 1}
    assert (counts(funnel)["gold"], funnel.whole.queries, len(funnel)) == (6, 3, 3)


def test_a_query_without_gold_is_in_no_count_and_one_that_comes_twice_is_refused():
    funnel = Funnel("staterag", "aviary")
    funnel.add(a_record(), a_reference(passages=[], supporting=[]))
    assert (funnel.unjudged, funnel.whole.queries, len(funnel)) == (1, 0, 1)
    with pytest.raises(ValueError, match="twice"):
        funnel.add(a_record(), a_reference())


def test_a_verdict_is_held_against_what_its_own_cycle_committed():
    record = a_run(candidates=(0, 1, 2), kept=((0,), (0, 1), (2,)))
    found = fate(record, needs(0, 1)).verdicts
    assert [(verdict.cycle, verdict.label, verdict.sufficient) for verdict in found] == [
        (1, "FAIL", False),
        (2, "FAIL", True),
        (3, "PASS", False),
    ]


def test_the_verdicts_of_a_query_that_ended_later_still_count():
    states = [a_commit("evidence", [region(0)]), a_verdict("FAIL")]
    found = fate(an_incomplete_record(states=states), needs(0))
    assert [verdict.sufficient for verdict in found.verdicts] == [True]
    assert found.furthest == ("gold",)


def test_answers_are_parted_by_whether_all_gold_was_admitted():
    funnel = Funnel("staterag", "aviary")
    cases = [("Brass Heron", (0, 1)), ("a crane", (0, 1)), ("Brass Heron", (0,))]
    for at, (answer, kept) in enumerate(cases):
        record = a_run(candidates=(0, 1), kept=(kept,), answer=answer, query_id=f"q{at}")
        funnel.add(record, needs(0, 1, query_id=f"q{at}"))
    funnel.add(an_incomplete_record(query_id="q9", answer="Brass Heron"), needs(0, query_id="q9"))
    enough, lacking = funnel.whole.answers[True], funnel.whole.answers[False]
    assert (enough.n, enough.mean("accuracy")) == (2, 0.5)
    assert (lacking.n, lacking.mean("accuracy")) == (2, 0.5)


SOME = st.lists(st.sampled_from(PLACES), unique=True)
RECORDS = st.builds(
    a_run,
    scored=SOME,
    candidates=SOME,
    kept=st.lists(SOME, min_size=1, max_size=3),
    admitted=SOME,
    action=st.sampled_from(["RELEASE", "FALLBACK"]),
    status=st.sampled_from(["completed", "completed", "incomplete"]),
    rejections=st.just([a_rejection("malformed")]),
)
"""Whatever records may hold, even admitted evidence that no role had."""


@given(
    st.lists(st.tuples(RECORDS, SOME, st.sampled_from(["a", "b", None])), min_size=1),
    st.sampled_from(["half", "title"]),
)
def test_counts_only_fall_and_are_bounded_by_the_gold(pairs, rule):
    funnel = Funnel("staterag", "aviary", rule)
    for at, (record, places, kind) in enumerate(pairs):
        funnel.add(
            changed(record, query_id=str(at)), needs(*places, supporting=[], question_type=kind, query_id=str(at))
        )
    for tally in (funnel.whole, *funnel.types.values()):
        found = [tally.survivors(stage) for stage in STAGES]
        assert found == sorted(found, reverse=True)
        assert max(tally.on_path, tally.scored) <= tally.survivors("reached")
        assert found[0] - found[1] == tally.ended_by.total()
    total = sum(len(places) for _, places, _ in pairs)
    assert funnel.whole.survivors("gold") == total == sum(t.survivors("gold") for t in funnel.types.values())


@given(RECORDS, SOME.filter(bool))
def test_the_last_count_is_the_recall_of_the_same_rule(record, places):
    reference = needs(*places)
    scores = score(record, reference)
    for rule, recall in (("half", "passage_recall"), ("title", "title_recall")):
        funnel = Funnel("staterag", "aviary", rule)
        funnel.add(record, reference)
        assert funnel.whole.survivors("admitted") / gold(reference) == pytest.approx(scores[recall])


@given(RECORDS, st.lists(st.sampled_from(["birds", "rivers", "stars"]), unique=True, min_size=1))
def test_the_last_count_is_source_recall_where_sources_are_the_gold(record, supporting):
    reference = a_reference(passages=[], supporting=supporting)
    funnel = Funnel("staterag", "aviary")
    funnel.add(record, reference)
    assert funnel.whole.survivors("admitted") / len(supporting) == pytest.approx(
        score(record, reference)["source_recall"]
    )
