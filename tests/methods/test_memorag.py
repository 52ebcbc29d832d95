"""MemoRAG Lite, on a scripted model: the memory, what it recalls, and what is retrieved for that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.contract import check_provenance
from programs.documents.collection import Collection, Source
from programs.methods.base import NO_EVIDENCE
from programs.methods.indexes import Indexes
from programs.methods.memorag.program import MemoRAG, clue_lines, packed
from programs.models.language_model import LanguageModel
from programs.models.ledger import Phase
from programs.models.runtime import Runtime
from tests.support.dying import refuse
from tests.support.questions import QUESTION, ask
from tests.support.records import timeless
from tests.support.scripted import HashedEncoder, OverlapCrossEncoder, ScriptedEngine
from tests.support.worlds import make_collection, small_settings

SMALL = {"chunk_tokens": 16, "gist_chunk_tokens": 40, "gist_tokens": 64, "hits": 2}
ENCODER = HashedEncoder()
OPENINGS = {
    "gist": "You condense",
    "recall": "You know a long article by the memory of it below. For the question, recall",
    "rewrite": "You know a long article by the memory of it below. Break",
    "draft": "You know a long article by the memory of it below. Answer",
    "reader": "Answer the question",
}


class Script:
    """A completion, or a function of the request, for each step. Keeps the prompts by step."""

    def __init__(self, **answers):
        self.answers = {
            "gist": "a note about a harbour or a dome",
            "recall": "The observatory dome has a lens\nToo short",
            "rewrite": "1. Where is the harbour ferry pier?",
            "draft": "orchard pear graft",
            "reader": "the dome",
            **answers,
        }
        self.prompts = []

    def __call__(self, request):
        system = request.messages[0].content
        step = next(step for step, opening in OPENINGS.items() if system.startswith(opening))
        self.prompts.append((step, request.messages[-1].content))
        answer = self.answers[step]
        return answer(request) if callable(answer) else answer

    def of(self, step):
        return [prompt for name, prompt in self.prompts if name == step]


def make_program(script=None, indexes=None, context=8192, **branches) -> MemoRAG:
    settings = small_settings(**{"memorag": SMALL, **branches})
    model = LanguageModel(ScriptedEngine(script or Script(), context=context))
    return MemoRAG(Runtime(settings, model, model, ENCODER, OverlapCrossEncoder()), "test", indexes)


def four_notes() -> Collection:
    texts = {
        "pear": "The orchard has a pear and a graft.",
        "ferry": "The harbour ferry leaves the pier.",
        "cello": "The orchestra has a cello in the hall.",
        "lens": "The observatory dome has a lens.",
    }
    return Collection(sources=tuple(Source(source_id=name, text=text) for name, text in texts.items()))


def test_what_memory_recalls_is_retrieved_and_put_in_source_order():
    record = ask(make_program(memorag={**SMALL, "hits": 1, "draft": False}), four_notes())
    assert [item.source_id for item in record.evidence] == ["ferry", "lens"]


def test_without_a_memory_the_question_alone_is_retrieved():
    script = Script(gist=" ")
    record = ask(make_program(script, memorag={**SMALL, "hits": 1}), four_notes())
    assert [item.source_id for item in record.evidence] == ["lens"]
    assert script.of("recall") == []


def test_a_drafted_answer_is_searched_for_and_never_shown():
    script = Script()
    record = ask(make_program(script, memorag={**SMALL, "hits": 1}), four_notes())
    assert [item.source_id for item in record.evidence] == ["pear", "ferry", "lens"]
    assert "orchard pear graft" not in script.of("reader")[0]


def test_every_query_has_its_hits():
    record = ask(make_program(memorag={**SMALL, "hits": 4}), four_notes())
    assert [item.source_id for item in record.evidence] == ["pear", "ferry", "cello", "lens"]


def test_under_a_small_budget_first_hits_are_admitted_before_source_order_is_restored():
    script = Script(recall="The observatory dome has a lens.", rewrite="")
    program = make_program(script, memorag={**SMALL, "hits": 4}, lifecycle={"reader_budget": 6})
    record = ask(program, four_notes())
    assert [item.source_id for item in record.evidence] == ["lens"]
    program = make_program(script, memorag={**SMALL, "hits": 4}, lifecycle={"reader_budget": 9})
    record = ask(program, four_notes())
    assert len(record.evidence) == 2
    assert record.evidence[-1].text == "The observatory dome has a lens."
    assert len(ENCODER.spans(record.evidence[0].text)) == 3


def test_clues_are_asked_of_the_memory_and_the_question_and_nothing_else():
    script = Script(gist="GIST")
    ask(make_program(script), four_notes())
    (recall,), (rewrite,) = script.of("recall"), script.of("rewrite")
    assert recall == f"Memory of the article:\nGIST\n\nQuestion:\n{QUESTION}\n\nSTATEMENTS:"
    assert rewrite == f"Memory of the article:\nGIST\n\nQuestion:\n{QUESTION}\n\nQUESTIONS:"


def test_short_sources_are_condensed_together_and_a_long_one_in_parts():
    script = Script()
    ask(make_program(script), four_notes())
    assert len(script.of("gist")) == 1
    assert all(source.text in script.of("gist")[0] for source in four_notes().sources)
    script = Script()
    ask(make_program(script), Collection(sources=(Source(source_id="a", text="lens dome. " * 50),)))
    assert len(script.of("gist")) == 3


def test_a_memory_too_long_for_a_prompt_is_condensed_again():
    numbers = iter(range(1000))

    def gist(request):
        return f"gist {next(numbers)} " + "word " * 30

    script = Script(gist=gist)
    record = ask(make_program(script, context=512, memorag={**SMALL, "gist_chunk_tokens": 100}), make_collection(40))
    assert not any(call.error for call in record.calls)
    first, later = script.of("gist")[:25], script.of("gist")[25:]
    assert any("gist 0 " in prompt for prompt in later)
    assert not any("gist 0 " in prompt for prompt in first)
    memory = script.of("recall")[0]
    assert len(ENCODER.spans(memory)) < 512


def test_a_memory_that_does_not_get_shorter_is_cut_to_what_fits():
    def echo(request):
        return request.messages[-1].content

    script = Script(gist=echo)
    settings = {**SMALL, "gist_tokens": 300, "gist_chunk_tokens": 30, "clue_tokens": 64}
    record = ask(make_program(script, context=640, memorag=settings), make_collection(20))
    assert record.status == "completed"
    assert script.of("recall")


def test_gists_are_charged_as_index_work_and_clues_as_auxiliary():
    record = ask(make_program(memorag={**SMALL, "draft": True}))
    phases = {(call.role, call.phase) for call in record.calls}
    assert phases == {
        ("gist", Phase.INDEX),
        ("recall", Phase.AUX),
        ("rewrite", Phase.AUX),
        ("draft", Phase.AUX),
        ("reader", Phase.READER),
    }


def test_completions_that_say_nothing_are_gone_without():
    record = ask(make_program(Script(recall="", rewrite="\n \n", draft=""), memorag={**SMALL, "draft": True}))
    assert record.status == "completed"
    assert record.evidence


def test_a_prompt_that_does_not_fit_is_written_down_and_gone_without():
    record = ask(make_program(context=400), four_notes(), question="Which dome? " * 80)
    assert [call.role for call in record.calls if call.error] == ["recall", "rewrite", "draft"]
    assert record.evidence


def test_a_server_that_dies_while_memorising_leaves_the_reason_and_its_calls():
    record = ask(make_program(Script(gist=refuse)))
    assert record.status == "incomplete"
    assert "connection refused" in record.error


def test_every_text_is_its_source_at_its_offsets_even_when_cut():
    collection = make_collection()
    for budget in (1, 7, 20, 2048):
        record = ask(make_program(lifecycle={"reader_budget": budget}), collection)
        assert record.evidence
        assert sum(len(ENCODER.spans(item.text)) for item in record.evidence) <= budget
        for item in record.evidence:
            check_provenance(item, collection.texts)


def test_I5_two_runs_are_equal_but_for_their_times():
    first, second = (timeless(ask(make_program())) for _ in range(2))
    assert first == second


def test_a_shared_memory_is_made_once_and_found_again_by_another_process(tmp_path):
    collection = make_collection()
    script = Script(gist="数 gist\r\nis kept")
    program = make_program(script, indexes=Indexes(tmp_path, shared={collection.digest}))
    assert ask(program, collection).tokens.index > 0
    second = ask(program, collection, position=1)
    assert second.tokens.index == 0
    other = make_program(Script(gist=script.answers["gist"]), indexes=Indexes(tmp_path, shared={collection.digest}))
    assert timeless(ask(other, collection, position=1)) == timeless(second)


@pytest.mark.parametrize("sources", [(), ("",), (" \n\t ", "")])
def test_a_collection_without_text_has_no_evidence_and_no_calls(sources):
    collection = Collection(sources=tuple(Source(source_id=f"{i}", text=text) for i, text in enumerate(sources)))
    script = Script()
    record = ask(make_program(script), collection)
    assert (record.status, record.error, record.evidence) == ("incomplete", NO_EVIDENCE, [])
    assert script.prompts == []


def test_one_chunk_is_retrieved_once():
    record = ask(make_program(), Collection(sources=(Source(source_id="a", text="The lens is in the dome."),)))
    assert [item.evidence_id for item in record.evidence] == ["a#0-24"]


@pytest.mark.parametrize(
    ("completion", "lines"),
    [
        (
            "1. Who built the dome?\n2) Where is it?\n\n- The lens was ground in Ulm",
            ["Who built the dome?", "The lens was ground in Ulm"],
        ),
        ("   \nyes\nthree words only", []),
        (
            "2024 saw the dome open\n3.5 metres across the dome",
            ["2024 saw the dome open", "3.5 metres across the dome"],
        ),
        ("谁建造了圆顶？\n是的", ["谁建造了圆顶？"]),
        ("من بنى القبة القديمة في المدينة؟", ["من بنى القبة القديمة في المدينة؟"]),
    ],
)
def test_clues_are_lines_of_more_than_three_words(completion, lines):
    assert clue_lines(completion, 3) == lines


@given(st.lists(st.integers(1, 20)), st.integers(1, 30))
def test_packs_keep_every_text_in_order_and_only_a_text_alone_may_be_too_long(sizes, most):
    texts = [" ".join([f"t{i}"] * size) for i, size in enumerate(sizes)]
    packs = packed(texts, most, ENCODER)
    assert "\n\n".join(packs) == "\n\n".join(texts)
    for pack in packs:
        assert len(ENCODER.spans(pack)) <= most or "\n\n" not in pack


def test_the_predictors_are_visible_to_optimisers_by_name():
    names = [name for name, _ in make_program().named_predictors()]
    assert names == ["reader.answer", "condense", "recall", "rewrite", "draft"]
