"""Self-RAG, prompted: the retrieval decision, the score of a reflection, and what is kept."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.contract import check_provenance
from programs.methods.base import NO_EVIDENCE
from programs.methods.indexes import Indexes
from programs.methods.selfrag.labels import label_probabilities
from programs.methods.selfrag.program import SelfRAG
from programs.methods.selfrag.settings import SelfragSettings
from programs.models.adapter import TemplateAdapter
from programs.models.engines.engine import GeneratedToken
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.workloads.query import Query
from tests.support.dying import refuse
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import collection_of, make_collection, small_settings

QUESTION = "Which dome holds the lens?"
DECIDES, REFLECTS = "Decide whether passages", "Judge one passage"
UTILITY = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}


def reflection(relevant="yes", supported="full", useful=5, answer="the dome"):
    return json.dumps({"relevant": relevant, "answer": answer, "supported": supported, "useful": useful})


class Model(ScriptedEngine):
    """Says `decision`, and of each passage what `judge` says of its text.

    With `likely`, from a key to probabilities of labels, it also tells what was likely at each place.
    """

    def __init__(self, decision="yes", judge=None, likely=None, context=8192):
        self.decision = json.dumps({"retrieve": decision}) if decision in ("yes", "no") else decision
        self.judge = judge or (lambda passage: reflection())
        self.likely = likely
        super().__init__(self.say, context=context)
        self.capabilities = replace(self.capabilities, token_logprobs=likely is not None)

    def say(self, request):
        opening, user = request.messages[0].content, request.messages[-1].content
        if opening.startswith(DECIDES):
            return self.decision
        if opening.startswith(REFLECTS):
            return self.judge(passage_of(user))
        return "the dome"

    def complete(self, request):
        made = super().complete(request)
        assert bool(request.alternatives) == (self.likely is not None and request.schema is not None)
        return replace(made, tokens=spoken(made.text, self.likely)) if request.alternatives else made


def spoken(text, likely, pieces=3):
    """Cut a completion into tokens; a label is one, and what the table has for its key was likely there."""
    places = {}
    for key, chances in likely.items():
        if found := re.search(rf'"{key}": "?(\w+)', text):
            places[found.start(1)] = (found.end(1), chances)
    inside = {place for start, (end, _) in places.items() for place in range(start + 1, end)}
    ends = {end for end, _ in places.values()}
    cuts = sorted(({*range(0, len(text), pieces), len(text)} - inside) | {*places} | ends)
    tokens = []
    for start, end in pairwise(cuts):
        _, chances = places.get(start, (end, {text[start:end]: 1.0}))
        others = tuple(GeneratedToken(label, math.log(p)) for label, p in chances.items())
        tokens.append(GeneratedToken(text[start:end], math.log(chances[text[start:end]]), others))
    return tuple(tokens)


def passage_of(user):
    return user.split("Passage:\n", 1)[1].rsplit("\n\nOutput JSON", 1)[0]


def make_program(model, indexes=None, **branches):
    lm = LanguageModel(model)
    runtime = Runtime(small_settings(**branches), lm, lm, HashedEncoder(), OverlapCrossEncoder())
    return SelfRAG(runtime, "test", indexes)


def ask(model, collection=None, position=0, **rest):
    collection = make_collection() if collection is None else collection
    query = Query(query_id="q", question=QUESTION, collection=collection, position=position)
    return make_program(model, **rest).run(query)


def kept(record):
    return [item.source_id for item in record.evidence]


def roles(record):
    return [call.role for call in record.calls]


THREE = collection_of("which dome holds the lens", "the dome of the lens", "a ferry to the pier")


def test_passages_are_kept_by_score_and_ties_by_similarity():
    said = {
        "which dome holds the lens": reflection("no", "none", 1),
        "the dome of the lens": reflection("yes", "partial", 3),
        "a ferry to the pier": reflection("yes", "full", 5),
    }
    assert kept(ask(Model(judge=said.__getitem__), THREE)) == ["s2", "s1", "s0"]
    assert kept(ask(Model(), THREE)) == ["s0", "s1", "s2"]


def score_of(model, **selfrag):
    critic = make_program(model, selfrag=selfrag).reflection
    with dspy.context(adapter=TemplateAdapter(), disable_history=True):
        inputs = {"question": QUESTION, "passage": "the dome"}
        return critic(lm=LanguageModel(model), config={"max_tokens": 160}, **inputs).score


def says(said):
    return Model(judge=lambda passage: said)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (reflection("yes", "full", 5), 1 + 1 + 0.5),
        (reflection("yes", "partial", 4), 1 + 0.5 + 0.25),
        (reflection("no", "none", 1), 0 + 0 - 0.5),
        (reflection("no", "full", 3), 0 + 1 + 0),
        (reflection("yes", "none", 2), 1 + 0 - 0.25),
    ],
)
def test_the_score_of_labels_that_were_said_is_the_published_sum(said, score):
    assert score_of(says(said)) == pytest.approx(score)


def test_the_weights_are_settings():
    said = reflection("yes", "partial", 4)
    weights = {"relevance_weight": 0.0, "support_weight": 3.0, "utility_weight": 2.0}
    assert score_of(says(said), **weights) == pytest.approx(3 * 0.5 + 2 * 0.5)
    defaults = SelfragSettings()
    assert (defaults.relevance_weight, defaults.support_weight, defaults.utility_weight) == (1.0, 1.0, 0.5)


PROBABILITIES = st.floats(0.001, 1.0)


@given(
    relevant=st.tuples(PROBABILITIES, PROBABILITIES),
    supported=st.tuples(*[PROBABILITIES] * 3),
    useful=st.tuples(*[PROBABILITIES] * 5),
    answer=st.text(max_size=30),
)
def test_labels_are_normalised_and_weighed_as_published(relevant, supported, useful, answer):
    table = {
        "relevant": dict(zip(("yes", "no"), relevant, strict=True)),
        "supported": dict(zip(("full", "partial", "none"), supported, strict=True)),
        "useful": dict(zip("12345", useful, strict=True)),
    }
    expected = relevant[0] / sum(relevant)
    expected += (supported[0] + 0.5 * supported[1]) / sum(supported)
    expected += 0.5 * sum(UTILITY[i] * p for i, p in enumerate(useful, start=1)) / sum(useful)
    model = Model(likely=table, judge=lambda passage: reflection("yes", "full", 1, answer))
    assert score_of(model) == pytest.approx(expected)


def told(*tokens):
    """Write what DSPy hands over: each token with what was likely in its place."""
    return {
        "content": [
            {
                "token": token,
                "logprob": math.log(likely.get(token, 0.001)),
                "top_logprobs": [{"token": text, "logprob": math.log(p)} for text, p in likely.items()],
            }
            for token, likely in tokens
        ]
    }


SUPPORT = ("full", "partial", "none")


@pytest.mark.parametrize(
    ("tokens", "shares"),
    [
        # the label is a token of its own
        ([('{"supported": "', {}), ("full", {"full": 0.6, "partial": 0.2, "none": 0.2}), ('"}', {})], (0.6, 0.2, 0.2)),
        # tokens that begin no label were likely only without a schema
        ([('{"supported": "', {}), ("full", {"full": 0.3, "Full": 0.5, "partial": 0.1, "none": 0.1})], (0.6, 0.2, 0.2)),
        # a label in several tokens, some of which begin it in two ways
        ([('{"supported": "', {}), ("par", {"par": 0.3, "part": 0.3, "full": 0.2, "n": 0.2})], (0.2, 0.6, 0.2)),
        # the token holds the quotation mark too, or more than the label
        (
            [('{"supported":', {}), (' "full', {' "full': 0.5, ' "part': 0.25, ' "none': 0.25, " x": 0.9})],
            (0.5, 0.25, 0.25),
        ),
        (
            [('{"supported": "', {}), ('full"', {'full"': 0.3, "full": 0.3, "fully": 0.9, "p": 0.2, "n": 0.2})],
            (0.6, 0.2, 0.2),
        ),
        # one that is not among the likely is as likely as the last of them
        (
            [('{"supported": "', {}), ("full", {"full": 0.8, "partial": 0.1, "some": 0.05})],
            (0.8 / 0.95, 0.1 / 0.95, 0.05 / 0.95),
        ),
    ],
)
def test_a_label_is_weighed_by_the_tokens_that_begin_it(tokens, shares):
    assert label_probabilities(told(*tokens), "supported", SUPPORT) == pytest.approx(shares)


def test_a_draft_that_looks_like_a_key_is_not_taken_for_one():
    text = json.dumps({"answer": '", "supported": "none', "supported": "full"})
    at = text.rindex("full")
    tokens = [(text[:at], {}), ("full", {"full": 0.7, "partial": 0.2, "none": 0.1}), ('"}', {})]
    assert label_probabilities(told(*tokens), "supported", SUPPORT) == pytest.approx((0.7, 0.2, 0.1))


@pytest.mark.parametrize("nothing", [None, {}, {"content": []}, told(("{}", {}))])
def test_where_nothing_is_told_of_a_label_it_has_no_probability(nothing):
    assert label_probabilities(nothing, "supported", SUPPORT) is None


@pytest.mark.parametrize(("yes", "retrieves"), [(0.05, False), (0.19, False), (0.21, True), (0.9, True)])
@pytest.mark.parametrize("said", ["yes", "no"])
def test_retrieval_is_wanted_above_the_threshold_of_probability_whatever_was_said(yes, retrieves, said):
    model = Model(said, likely={"retrieve": {"yes": yes, "no": 1 - yes}})
    record = ask(model, THREE)
    assert roles(record) == ["retrieval"] + ["reflection"] * (3 if retrieves else 0) + ["reader"]


def test_passages_with_the_same_labels_are_told_apart_by_how_probable_these_are():
    class Sure(Model):
        def complete(self, request):
            sure = 0.9 if "ferry" in str(request) else 0.6
            self.likely = {"relevant": {"yes": sure, "no": 1 - sure}}
            return super().complete(request)

    assert kept(ask(Sure(likely={}), THREE, selfrag={"mode": "always"}))[0] == "s2"


def test_a_probability_at_the_threshold_does_not_retrieve():
    assert "reflection" not in roles(ask(Model("no"), THREE, selfrag={"threshold": 0.0}))
    assert "reflection" not in roles(ask(Model("yes"), THREE, selfrag={"threshold": 1.0}))


def test_declined_retrieval_hands_over_the_nearest_region_unread():
    record = ask(Model("no"), THREE)
    assert kept(record) == ["s0"]
    assert roles(record) == ["retrieval", "reader"]


def test_declined_retrieval_can_be_left_without_evidence():
    record = ask(Model("no"), THREE, selfrag={"unretrieved": 0})
    assert (record.status, record.error) == ("incomplete", NO_EVIDENCE)


def test_always_retrieving_asks_for_no_decision():
    assert roles(ask(Model("no"), THREE, selfrag={"mode": "always"})) == ["reflection"] * 3 + ["reader"]


def test_a_decision_that_cannot_be_read_retrieves():
    record = ask(Model("perhaps"), THREE)
    assert roles(record) == ["retrieval", *["reflection"] * 3, "reader"]
    assert record.parse_failures == 1


@pytest.mark.parametrize("bad", ["", "not json", reflection(useful=6), reflection("maybe"), '{"relevant": "yes"}'])
def test_a_passage_whose_reflection_cannot_be_read_comes_last_and_is_asked_about_once(bad):
    def judge(passage):
        return bad if passage.startswith("which dome") else reflection("no", "none", 1)

    record = ask(Model(judge=judge), THREE)
    assert kept(record) == ["s1", "s2", "s0"]
    assert roles(record).count("reflection") == 3
    assert record.parse_failures == 1


def test_without_any_readable_reflection_the_order_is_that_of_similarity():
    assert kept(ask(Model(judge=lambda passage: "junk"), THREE)) == ["s0", "s1", "s2"]


def test_as_many_passages_are_reflected_on_and_kept_as_the_settings_say():
    record = ask(Model(), selfrag={"passages": 4, "keep": 2})
    assert roles(record).count("reflection") == 4
    assert len(record.evidence) == 2


@pytest.mark.parametrize("likely", [None, {"relevant": {"yes": 0.7, "no": 0.3}}])
def test_a_passage_is_read_once_with_probabilities_and_without(likely):
    record = ask(Model(likely=likely), THREE)
    assert roles(record) == ["retrieval", *["reflection"] * 3, "reader"]
    assert {call.phase for call in record.calls[:-1]} == {Phase.AUX}
    assert all(call.prompt_tokens > 0 for call in record.calls)
    assert record.tokens.index == 0


def test_parallel_reflections_give_the_same_record_as_one_at_a_time():
    def run(parallel):
        record = ask(Model(likely={"useful": {"5": 0.6, "2": 0.4}}), auxiliary={"parallel": parallel})
        return {key: value for key, value in timeless(record).items() if key != "settings"}

    assert run(4) == run(1)


def test_a_passage_is_shown_up_to_its_tokens_and_handed_over_whole():
    seen = []

    def judge(passage):
        seen.append(passage)
        return reflection()

    record = ask(Model(judge=judge), selfrag={"passage_tokens": 8, "passages": 1})
    assert [len(HashedEncoder().spans(passage)) for passage in seen] == [8]
    assert len(HashedEncoder().spans(record.evidence[0].text)) > 8


def test_a_server_that_dies_leaves_an_incomplete_record_with_its_tokens():
    record = ask(Model(judge=refuse), THREE)
    assert record.status == "incomplete"
    assert "connection refused" in record.error
    assert record.tokens.aux > 0


def test_the_drafts_do_not_reach_the_reader():
    model = Model(judge=lambda passage: reflection(answer="CANARY-DRAFT"))
    ask(model, THREE)
    assert "CANARY-DRAFT" not in "".join(message.content for message in model.requests[-1].messages)


@pytest.mark.parametrize("sources", [(), ("",), (" \n ", "\t")])
def test_a_collection_without_text_asks_nobody_and_says_so(sources):
    record = ask(Model(), collection_of(*sources))
    assert (record.status, record.error, record.calls) == ("incomplete", NO_EVIDENCE, [])


@pytest.mark.parametrize("text", ["one chunk", "圆顶里有一面透镜。渡船在码头。" * 9, "القبة تحمل العدسة. " * 30])
@pytest.mark.parametrize("likely", [None, {"relevant": {"yes": 0.7, "no": 0.3}}])
def test_I6_every_record_is_its_source_at_its_offsets_in_any_script(text, likely):
    collection = collection_of(text)
    record = ask(Model(likely=likely), collection, lifecycle={"reader_budget": 20})
    assert record.status == "completed"
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_I5_two_runs_are_equal_but_for_their_times():
    def run():
        return timeless(ask(Model(likely={"relevant": {"yes": 0.7, "no": 0.3}})))

    assert run() == run()


def test_an_index_that_was_saved_gives_the_same_evidence_when_it_is_loaded(tmp_path):
    collection = make_collection()
    first, second = (
        ask(Model(), collection, position, indexes=Indexes(tmp_path, {collection.digest})) for position in (0, 1)
    )
    assert [entry.name for entry in tmp_path.iterdir()] == [f"{collection.digest}@0"]
    assert second.evidence == first.evidence
    assert second.encoder_tokens < first.encoder_tokens


def test_the_predictors_are_visible_to_optimisers_by_name():
    names = [name for name, _ in make_program(Model()).named_predictors()]
    assert names == ["reader.answer", "retrieval.decide", "reflection.reflect"]
