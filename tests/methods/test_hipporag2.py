"""HippoRAG 2 whole, on a scripted model: what it asks, what it hands to the reader, and what it does without."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

from programs.contract import check_provenance
from programs.documents.collection import Collection, Source
from programs.methods.base import QueryRun
from programs.methods.hipporag2.demonstrations import PASSAGES, RECOGNITION
from programs.methods.hipporag2.program import HippoRAG2
from programs.methods.hipporag2.store import HippoCodec
from programs.methods.indexes import Indexes
from programs.models.adapter import TemplateAdapter
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from programs.workloads.query import Query
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import small_settings

QUESTION = "Where was the director of Red Harbour born?"
STEPS = {
    "entities": "List the named entities",
    "triples": "Write what the passage says",
    "recognition": "Choose the numbered facts",
    "reader": "Answer the question",
}
TEXTS = {
    "film": "Red Harbour is a film directed by Anna Lind",
    "person": "Anna Lind grew up by the sea; Oslo",
    "near-1": "Where was the director of Blue Harbour born then",
    "near-2": "The director was born where Red Square was",
    "far": "Pears graft well in a late frost",
}
SAID = {
    "Red Harbour is": [["Red Harbour", "directed by", "Anna Lind"]],
    "Anna Lind grew": [["Anna Lind", "born in", "Oslo"]],
    "Pears": [["Pears", "graft in", "frost"]],
}


def make_collection(**texts: str) -> Collection:
    return Collection(sources=tuple(Source(source_id=name, text=text) for name, text in (texts or TEXTS).items()))


class Script:
    """Says what a passage's opening calls for, and keeps the requests by step."""

    def __init__(self, **answers) -> None:
        self.answers = {
            "entities": json.dumps({"named_entities": ["Anna Lind", "Anna Lind", "Oslo"]}),
            "triples": say_triples,
            "recognition": keep("red harbour"),
            "reader": "Oslo",
            **answers,
        }
        self.asked: dict[str, list[str]] = {step: [] for step in STEPS}

    def __call__(self, request) -> str:
        step = next(s for s, opening in STEPS.items() if request.messages[0].content.startswith(opening))
        prompt = request.messages[-1].content
        self.asked[step].append(prompt)
        answer = self.answers[step]
        return answer(prompt) if callable(answer) else answer


def say_triples(prompt: str) -> str:
    return json.dumps({"triples": next((said for start, said in SAID.items() if start in prompt), [])})


def keep(word: str):
    """Recognise the facts that have a word."""

    def answer(prompt: str) -> str:
        shown = [line for line in prompt.splitlines() if line.startswith("[")]
        return json.dumps({"relevant": [i for i, line in enumerate(shown, start=1) if word in line]})

    return answer


def make_program(
    script: Script | None = None, indexes: Indexes | None = None, lifecycle=None, auxiliary=None, **own
) -> HippoRAG2:
    settings = small_settings(hipporag2={"qa_top_k": 2, **own}, lifecycle=lifecycle or {}, auxiliary=auxiliary or {})
    model = LanguageModel(ScriptedEngine(script or Script()))
    return HippoRAG2(Runtime(settings, model, model, HashedEncoder(4096), OverlapCrossEncoder()), "test", indexes)


def ask(program: HippoRAG2, collection: Collection | None = None, position: int = 0):
    return program.run(make_query(collection, position))


def make_query(collection: Collection | None = None, position: int = 0) -> Query:
    over = make_collection() if collection is None else collection
    return Query(query_id=f"q{position}", question=QUESTION, collection=over, position=position)


def sources(record) -> list[str]:
    return [item.source_id for item in record.evidence]


def test_the_walk_reaches_a_passage_that_shares_no_word_with_the_question():
    record = ask(make_program())
    assert (record.status, record.answer) == ("completed", "Oslo")
    assert sources(record) == ["film", "person"]


def test_synonyms_bridge_two_names_of_one_person_from_their_threshold_on():
    def short_name(prompt):
        return say_triples(prompt).replace("Anna Lind", "Lind") if "Red Harbour is" in prompt else say_triples(prompt)

    assert "person" in sources(ask(make_program(Script(triples=short_name), synonymy_threshold=0.7)))
    assert "person" not in sources(ask(make_program(Script(triples=short_name), synonymy_threshold=0.8)))


def expected_scores(collection: Collection, triples: list, kept: str, top: int) -> dict[str, float]:
    """The published ranking once more, by dictionaries and networkx; one region a source, no synonyms."""
    encoder = HashedEncoder(4096)
    names = list(collection.texts)
    question = encoder.encode_queries([QUESTION])[0]

    def scaled(texts):
        cosines = encoder.encode_passages(texts) @ question
        return dict(zip(texts, (cosines - cosines.min()) / np.ptp(cosines), strict=True))

    dense = scaled(list(collection.texts.values()))
    facts = scaled(sorted({" ".join(triple) for said in triples for triple in said}))
    shown = sorted(facts, key=lambda text: -facts[text])[:top]
    graph = nx.MultiGraph()
    graph.add_nodes_from(names)
    for name, said in zip(names, triples, strict=True):
        graph.add_edges_from((s, o) for s, _, o in said)
        graph.add_edges_from((o, s) for s, _, o in said)
        graph.add_edges_from((name, end) for end in {end for s, _, o in said for end in (s, o)})
    weights: dict[str, list[float]] = {}
    for s, relation, o in {triple for said in triples for triple in said}:
        text = f"{s} {relation} {o}"
        for end in (s, o) if text in shown and kept in text else ():
            weights.setdefault(end, []).append(facts[text] / len(set(graph[end]) & set(names)))
    means = {end: float(np.mean(some)) for end, some in weights.items()}
    seeds = {end: means[end] for end in sorted(means, key=lambda end: -means[end])[:top]}
    seeds |= {name: 0.05 * dense[collection.texts[name]] for name in names}
    ranks = nx.pagerank(graph, alpha=0.5, personalization=seeds, tol=1e-12, max_iter=1000)
    return {name: ranks[name] for name in names}


@pytest.mark.parametrize("seed", range(8))
def test_the_whole_ranking_agrees_with_a_second_implementation(seed):
    rng = np.random.default_rng(seed)
    people = ["anna lind", "tomas berg", "ida roe", "jane vale", "red harbour", "oslo"]
    places = [" ".join(rng.choice(QUESTION.split(), 3)) for _ in range(8)]
    collection = make_collection(**{f"s{i}": f"note{i} {place}" for i, place in enumerate(places)})
    drawn = [[rng.choice(6, 2, replace=False) for _ in range(rng.integers(0, 4))] for _ in places]
    verbs = ["born in", "director of", "knew"]
    triples = [list(dict.fromkeys((people[i], verbs[(i + j) % 3], people[j]) for i, j in some)) for some in drawn]

    def say(prompt):
        return json.dumps({"triples": next(said for i, said in enumerate(triples) if f"note{i} " in prompt)})

    script = Script(triples=say, recognition=keep("o"))
    top = 2 + seed % 3
    record = ask(make_program(script, qa_top_k=8, synonymy_threshold=1.0, linking_top_k=top), collection)
    scores = expected_scores(collection, triples, "o", top)
    ranked = [scores[name] for name in sources(record)]
    assert len(ranked) == 8
    assert ranked == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-9)


def test_without_a_recognised_fact_passages_are_ranked_by_similarity_alone():
    record = ask(make_program(Script(recognition='{"relevant": []}')))
    assert record.status == "completed"
    assert "person" not in sources(record)
    assert record.parse_failures == 0


@pytest.mark.parametrize("completion", ["no json", '{"relevant": ["red harbour"]}', '{"relevant": [1', "{}"])
def test_a_recognition_that_cannot_be_read_leaves_similarity_and_is_counted(completion):
    script = Script(recognition=completion)
    record = ask(make_program(script))
    assert sources(record) == sources(ask(make_program(Script(recognition='{"relevant": []}'))))
    assert (record.status, record.parse_failures) == ("completed", 1)
    assert len(script.asked["recognition"]) == 1


def test_numbers_of_facts_that_were_not_shown_recognise_nothing():
    junk = ask(make_program(Script(recognition='{"relevant": [0, -3, 99, 99]}')))
    assert sources(junk) == sources(ask(make_program(Script(recognition='{"relevant": []}'))))
    assert junk.parse_failures == 0


def test_two_calls_a_passage_and_one_a_question_are_charged_to_their_phases():
    record = ask(make_program())
    steps = [(call.role, call.phase) for call in record.calls]
    assert steps == [
        *[("entities", Phase.INDEX)] * 5,
        *[("triples", Phase.INDEX)] * 5,
        ("recognition", Phase.AUX),
        ("reader", Phase.READER),
    ]


def test_triples_are_asked_for_with_the_names_that_were_found_each_once():
    script = Script()
    ask(make_program(script))
    assert all("Named entities:\nAnna Lind; Oslo\n" in prompt for prompt in script.asked["triples"])
    assert "[1] red harbour directed by anna lind" in script.asked["recognition"][0]


def test_a_passage_whose_names_cannot_be_read_is_still_asked_for_its_triples():
    script = Script(entities="no json")
    record = ask(make_program(script))
    assert all("Named entities:\nnone\n" in prompt for prompt in script.asked["triples"])
    assert (sources(record), record.parse_failures) == (["film", "person"], 5)


@pytest.mark.parametrize(
    "completion",
    [
        "no json",
        '{"triples": [["a", "b"]]}',
        '{"triples": [["a", "b", "c", "d"]]}',
        '{"triples": [["a", "b", 3]]}',
        '{"triples": [["a", "b", "c"]], "more": 1}',
    ],
)
def test_triples_that_cannot_be_read_yield_nothing_and_nobody_is_asked_to_recognise(completion):
    script = Script(triples=completion)
    record = ask(make_program(script))
    assert (record.status, record.parse_failures) == ("completed", 5)
    assert script.asked["recognition"] == []
    assert len(record.evidence) == 2


def test_each_step_shows_its_worked_examples_before_it_asks():
    program = make_program(Script())
    ask(program)
    shown = {}
    for request in program.runtime.auxiliary.engine.requests:
        step = next(name for name, opening in STEPS.items() if request.messages[0].content.startswith(opening))
        shown[step] = [message.content for message in request.messages if message.role == "assistant"]
    assert {step: len(answers) for step, answers in shown.items()} == {
        "entities": 2,
        "triples": 2,
        "recognition": 3,
        "reader": 0,
    }
    assert json.loads(shown["recognition"][1]) == {"relevant": []}
    assert json.loads(shown["entities"][0])["named_entities"][1] == "Corvane Observatory"


def test_worked_examples_say_only_what_their_passages_say_and_are_short():
    for passage, names, facts in PASSAGES:
        assert all(name in passage for name in names)
        assert all({fact[0], fact[2]} & set(names) for fact in facts)
    program = make_program()
    for predictor in (program.find_entities, program.find_triples, program.recognise):
        turns = TemplateAdapter().format(predictor.signature, predictor.demos, {})[1:-1]
        assert sum(len(turn["content"].split()) for turn in turns) < 260


def test_recognised_numbers_of_the_worked_examples_were_shown():
    for example in RECOGNITION:
        assert set(example.kept.relevant) <= set(range(1, len(example.facts.splitlines()) + 1))


def test_a_long_passage_is_cut_for_the_extractor_and_not_for_the_reader():
    script = Script()
    record = ask(
        make_program(script, passage_tokens=8), make_collection(a="one two three four five six seven eight nine")
    )
    assert all("eight" in prompt and "nine" not in prompt for prompt in script.asked["entities"])
    assert record.evidence[0].text.endswith("nine")


def test_a_prompt_that_does_not_fit_the_context_is_done_without():
    record = ask(make_program(extraction_tokens=9000))
    assert (record.status, len(record.evidence)) == ("completed", 2)
    assert [call.role for call in record.calls if call.error] == ["entities"] * 5 + ["triples"] * 5


@pytest.mark.parametrize("texts", [{"blank": " \n\t "}, {"blank": ""}])
def test_a_collection_without_words_has_no_evidence_and_asks_nobody(texts):
    script = Script()
    record = ask(make_program(script), make_collection(**texts))
    assert (record.status, record.evidence, record.calls) == ("incomplete", [], [])


def test_no_sources_at_all_is_no_evidence():
    assert ask(make_program(), Collection(sources=())).evidence == []


@pytest.mark.parametrize(
    "text", ["one passage", "東京都庁は新宿区にある。", "القاهرة عاصمة مصر", "Ω 🙂", "x" * 3000, "name\x00 with nul"]
)
def test_a_collection_of_one_source_in_any_script_works(text):
    said = json.dumps({"triples": [["東京都庁", "は", "新宿区"], ["القاهرة", "عاصمة", "مصر"], ["🙂", "is", "Ω"]]})
    record = ask(make_program(Script(triples=said, recognition='{"relevant": [1]}')), make_collection(only=text))
    assert record.status == "completed"
    assert record.parse_failures == 0


def test_every_record_is_source_text_at_its_offsets():
    collection = make_collection(long=" ".join(f"Anna Lind saw pier{i}\r\n" for i in range(60)), **TEXTS)
    for budget in (3, 20, 2048):
        record = ask(make_program(lifecycle={"reader_budget": budget}, qa_top_k=50), collection)
        assert record.evidence
        for item in record.evidence:
            check_provenance(item, collection.texts)
            assert item.derived is None


def test_the_same_query_gives_the_same_record():
    first, second = (timeless(ask(make_program())) for _ in range(2))
    assert first == second


def test_asking_several_at_once_gives_the_same_record():
    alone, together = (timeless(ask(make_program(auxiliary={"parallel": parallel}))) for parallel in (1, 4))
    assert {**together, "settings": alone["settings"]} == alone


def test_passages_handed_over_are_bounded_by_both_limits():
    assert len(ask(make_program(qa_top_k=4)).evidence) == 4
    assert len(ask(make_program(qa_top_k=4, retrieval_top_k=1)).evidence) == 1


def test_seeds_of_no_weight_leave_similarity():
    record = ask(make_program(Script(recognition=keep("pears")), passage_node_weight=0, linking_top_k=20))
    assert record.status == "completed"
    assert sources(record) == sources(ask(make_program(Script(recognition='{"relevant": []}'))))


def test_an_index_is_built_once_for_queries_that_share_a_collection(tmp_path):
    collection = make_collection()
    script = Script()
    program = make_program(script, Indexes(tmp_path, shared={collection.digest}))
    first, second = ask(program, collection, 0), ask(program, collection, 1)
    assert len(script.asked["entities"]) == 5
    assert first.evidence == second.evidence
    assert [call.role for call in second.calls] == ["recognition", "reader"]


def test_a_stored_index_is_read_again_with_no_call_and_gives_the_same_evidence(tmp_path):
    collection = make_collection()
    built = ask(make_program(None, Indexes(tmp_path, shared={collection.digest})), collection)
    script = Script()
    found = ask(make_program(script, Indexes(tmp_path, shared={collection.digest})), collection, 1)
    assert script.asked["entities"] == script.asked["triples"] == []
    assert found.evidence == built.evidence


def test_what_is_stored_is_the_whole_index(tmp_path):
    collection = make_collection()
    said = json.dumps({"triples": [["Anna Lind", "is not", "Anna Berg"], ["東京", "is", "東京"]]})
    program = make_program(Script(triples=said), synonymy_threshold=0.2)
    ask(program, collection)
    index = program.index(QueryRun(make_query(collection), program.runtime))
    codec = HippoCodec(collection)
    codec.save(index, tmp_path)
    loaded = codec.load(tmp_path)
    assert loaded.passages.segments == index.passages.segments
    assert loaded.base == index.base
    assert len(index.synonyms.pairs) > 0
    for stored, kept in (
        (loaded.passages.vectors, index.passages.vectors),
        (loaded.fact_vectors, index.fact_vectors),
        (loaded.synonyms.pairs, index.synonyms.pairs),
        (loaded.synonyms.cosines, index.synonyms.cosines),
        (loaded.graph.spread, index.graph.spread),
    ):
        assert stored.dtype == kept.dtype
        assert np.array_equal(stored, kept)
    assert loaded.graph.graph.get_edgelist() == index.graph.graph.get_edgelist()
    assert loaded.graph.graph.es["weight"] == index.graph.graph.es["weight"]


def test_an_optimiser_finds_the_three_steps_by_name():
    names = {name for name, _ in make_program().named_predictors()}
    assert {"find_entities", "find_triples", "recognise"} <= names
