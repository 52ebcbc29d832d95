"""Self-RAG, prompted: the retrieval decision, the score of a reflection, and what is kept."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.contract import check_provenance
from programs.errors import ContextOverflow
from programs.methods.base import NO_EVIDENCE
from programs.methods.indexes import Indexes
from programs.methods.selfrag.program import SelfRAG, up_to
from programs.methods.selfrag.settings import SelfragSettings
from programs.models.adapter import TemplateAdapter
from programs.models.engines.engine import Likelihood
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
    """Says `decision`, and of each passage what `judge` says of its text; gives labels the log-probabilities asked for."""

    def __init__(self, decision="yes", judge=None, logprobs=None, context=8192):
        self.decision = json.dumps({"retrieve": decision}) if decision in ("yes", "no") else decision
        self.judge = judge or (lambda passage: reflection())
        self.logprobs = logprobs
        self.scored = []
        super().__init__(self.say, context=context)
        self.capabilities = replace(self.capabilities, prompt_logprobs=logprobs is not None)

    def say(self, request):
        opening, user = request.messages[0].content, request.messages[-1].content
        if opening.startswith(DECIDES):
            return self.decision
        if opening.startswith(REFLECTS):
            return self.judge(passage_of(user))
        return "the dome"

    def likelihood(self, context, continuation):
        self.scored.append((context, continuation))
        return Likelihood(self.logprobs(context, continuation), len(self.tokens(context + continuation)))


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


def by_place(table):
    """Give each label of each key its log-probability, told by the key that the context ends with."""
    return lambda context, label: math.log(table[context.rsplit('"', 2 + context.endswith('"'))[1]][label])


@given(
    relevant=st.tuples(PROBABILITIES, PROBABILITIES),
    supported=st.tuples(*[PROBABILITIES] * 3),
    useful=st.tuples(*[PROBABILITIES] * 5),
)
def test_measured_labels_are_normalised_and_weighed_as_published(relevant, supported, useful):
    table = {
        "relevant": dict(zip(("yes", "no"), relevant, strict=True)),
        "supported": dict(zip(("full", "partial", "none"), supported, strict=True)),
        "useful": dict(zip("12345", useful, strict=True)),
    }
    expected = relevant[0] / sum(relevant)
    expected += (supported[0] + 0.5 * supported[1]) / sum(supported)
    expected += 0.5 * sum(UTILITY[i] * p for i, p in enumerate(useful, start=1)) / sum(useful)
    assert score_of(Model(logprobs=by_place(table))) == pytest.approx(expected)


def test_a_label_is_measured_at_its_place_in_the_completion():
    model = Model(logprobs=lambda context, label: -1.0, judge=lambda passage: reflection("no", "none", 2, "dé"))
    score_of(model)
    prompt = (
        "how well it answers the question.\n\nQuestion:\n" + QUESTION + "\n\nPassage:\nthe dome\n\nOutput JSON with"
    )
    assert all(prompt in context for context, _ in model.scored)
    ends = {context.rsplit("\n", 1)[1]: [] for context, _ in model.scored}
    for context, label in model.scored:
        ends[context.rsplit("\n", 1)[1]].append(label)
    assert ends == {
        '{"relevant": "': ["yes", "no"],
        '{"relevant": "no", "answer": "dé", "supported": "': ["full", "partial", "none"],
        '{"relevant": "no", "answer": "dé", "supported": "none", "useful": ': ["1", "2", "3", "4", "5"],
    }


@given(st.text(max_size=20))
def test_the_json_up_to_a_label_opens_a_completion_that_can_be_read(answer):
    keys = json.loads(reflection(answer=answer))
    assert json.loads(up_to(keys, "supported", quoted=True) + 'full"}') == {
        "relevant": "yes",
        "answer": answer,
        "supported": "full",
    }


@pytest.mark.parametrize(("yes", "retrieves"), [(0.05, False), (0.19, False), (0.21, True), (0.9, True)])
def test_retrieval_is_wanted_above_the_threshold_of_probability(yes, retrieves):
    chances = {"yes": yes, "no": 1 - yes}
    model = Model(logprobs=lambda context, label: math.log(chances[label]))
    record = ask(model, THREE, selfrag={"measure": "retrieval"})
    assert roles(record) == ["retrieval"] * 2 + ["reflection"] * (3 if retrieves else 0) + ["reader"]


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


def test_every_call_but_the_readers_is_auxiliary_and_measuring_reads_a_passage_eleven_times():
    model = Model(logprobs=lambda context, label: -1.0)
    record = ask(model, THREE)
    assert roles(record) == ["retrieval"] * 2 + ["reflection"] * 33 + ["reader"]
    assert {call.phase for call in record.calls[:-1]} == {Phase.AUX}
    assert all(call.prompt_tokens > 0 for call in record.calls)
    assert record.tokens.index == 0


def test_measuring_nothing_asks_for_labels_even_where_the_engine_could_measure():
    model = Model(logprobs=lambda context, label: -1.0)
    record = ask(model, THREE, selfrag={"measure": "nothing"})
    assert model.scored == []
    assert roles(record) == ["retrieval", *["reflection"] * 3, "reader"]


def test_parallel_reflections_give_the_same_record_as_one_at_a_time():
    def run(parallel):
        record = ask(Model(logprobs=lambda context, label: -float(len(label))), auxiliary={"parallel": parallel})
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


def test_a_measured_prompt_that_does_not_fit_the_context_leaves_its_passage_unassessed():
    def overflow(context, label):
        raise ContextOverflow("too long")

    model = Model(logprobs=lambda context, label: -1.0 if '"retrieve"' in context else overflow(context, label))
    record = ask(model, THREE)
    assert kept(record) == ["s0", "s1", "s2"]
    assert sum("ContextOverflow" in (call.error or "") for call in record.calls) == 3


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
@pytest.mark.parametrize("logprobs", [None, lambda context, label: -1.0])
def test_I6_every_record_is_its_source_at_its_offsets_in_any_script(text, logprobs):
    collection = collection_of(text)
    record = ask(Model(logprobs=logprobs), collection, lifecycle={"reader_budget": 20})
    assert record.status == "completed"
    for item in record.evidence:
        check_provenance(item, collection.texts)


def test_I5_two_runs_are_equal_but_for_their_times():
    def run():
        return timeless(ask(Model(logprobs=lambda context, label: -float(len(context) % 7))))

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
