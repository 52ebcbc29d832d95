"""What a group is called: by a model once, by memory instead of it, or by the openings of its children."""

from __future__ import annotations

import dspy
import pytest

from programs.models.adapter import TemplateAdapter
from programs.models.engines.engine import Capabilities, Completion
from programs.models.language_model import LanguageModel
from programs.models.ledger import Ledger, Phase
from programs.state import NodeType
from programs.tam.abstract import LeadAbstractor, ModelAbstractor, NoAbstraction, Reuse, abstraction_key
from programs.tam.build import build_graph
from tests.support.dying import refuse

TEXTS = ["red fox runs", "red fox sleeps", "blue whale swims", "blue whale sings"]


class Replies:
    """An engine that answers from a function and keeps what it was asked."""

    model = "replies"
    parameters = None
    capabilities = Capabilities(schema=False, prompt_logprobs=False, context_length=4096)

    def __init__(self, reply):
        self.reply = reply
        self.requests = []

    def complete(self, request):
        self.requests.append(request)
        return Completion(self.reply(request), prompt_tokens=10, completion_tokens=3, finish_reason="stop")

    def close(self):
        pass


@pytest.fixture
def asking(encoder):
    def with_replies(reply):
        engine = Replies(reply)
        bound = ModelAbstractor().bind(LanguageModel(engine), LeadAbstractor(encoder, 8), max_tokens=32)
        return engine, bound

    with dspy.context(adapter=TemplateAdapter()):
        yield with_replies


def test_the_lead_joins_the_first_tokens_of_each_child(encoder):
    lead = LeadAbstractor(encoder, 2)
    assert lead.describe(NodeType.TOPIC, ["one two, three", "four", " five  six seven"]) == "one two\nfour\n five  six"


def test_the_lead_finds_its_tokens_behind_long_white_space(encoder):
    assert LeadAbstractor(encoder, 2).openings([" " * 500 + "one two three"]) == [" " * 500 + "one two"]


def test_a_model_is_asked_once_a_group_of_two_or_more_and_charged_to_indexing(asking, encoder, collect, tight):
    engine, bound = asking(lambda request: "foxes and whales")
    ledger = Ledger("q")
    with ledger.scope("method", Phase.AUX):
        graph = build_graph(collect(TEXTS), encoder, bound, tight)
    groups = [n for n in range(len(graph)) if n != graph.root and len(graph.children(n)) > 1]
    assert groups
    assert len(engine.requests) == len(groups)
    assert all(graph.text(node) == "foxes and whales" for node in groups)
    assert {(call.role, call.phase) for call in ledger.calls} == {("abstraction", Phase.INDEX)}
    assert all(request.max_tokens == 32 for request in engine.requests)
    assert graph.fallbacks == 0


def test_a_singleton_carries_its_childs_text_and_vector_without_a_call(asking, encoder, collect, tight):
    engine, bound = asking(lambda request: "unused")
    graph = build_graph(collect(["alone in here"]), encoder, bound, tight)
    assert engine.requests == []
    assert [graph.text(node) for node in (1, 2, 3)] == ["alone in here"] * 3
    assert graph.vector(1).tolist() == graph.vector(2).tolist() == graph.vector(3).tolist()


def test_an_empty_completion_falls_back_to_the_lead_and_is_counted(asking, encoder, collect, tight):
    engine, bound = asking(lambda request: "  \n ")
    graph = build_graph(collect(TEXTS), encoder, bound, tight)
    groups = [n for n in range(len(graph)) if n != graph.root and len(graph.children(n)) > 1]
    assert graph.fallbacks == len(groups) == len(engine.requests) > 0
    lead = LeadAbstractor(encoder, tight.tam.child_tokens)
    for node in groups:
        assert graph.text(node) == lead.describe(NodeType.TOPIC, [graph.text(c) for c in graph.children(node)])


def test_a_completion_that_does_not_parse_is_no_abstraction(asking):
    _, bound = asking(lambda request: "no marker here")
    with dspy.context(adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)), pytest.raises(NoAbstraction):
        bound.describe(NodeType.RELATION, ["a", "b"])


def test_a_transport_fault_is_not_hidden(asking, encoder, collect, tight):
    _, bound = asking(refuse)
    with pytest.raises(dspy.LMTransportError):
        build_graph(collect(TEXTS), encoder, bound, tight)


def test_memory_replaces_the_calls_of_a_second_build(asking, encoder, collect, tight):
    engine, bound = asking(lambda request: f"summary {len(request.messages[-1].content)}")
    kept: dict[str, tuple[str, tuple[str, ...]]] = {}
    reuse = Reuse(
        recall=lambda key: kept[key][0] if key in kept else None,
        remember=lambda key, text, provenance: kept.update({key: (text, provenance)}),
    )
    first = build_graph(collect(TEXTS), encoder, bound, tight, reuse)
    asked = len(engine.requests)
    second = build_graph(collect(TEXTS), encoder, bound, tight, reuse)
    assert asked == len(kept) == len(engine.requests) > 0
    assert first.parts.texts == second.parts.texts
    ids = {first.record(node, 0).evidence_id for node in first.evidence_nodes}
    assert all(provenance and set(provenance) <= ids for _, provenance in kept.values())


def test_a_fallback_is_not_remembered(asking, encoder, collect, tight):
    _, bound = asking(lambda request: "")
    kept: list[str] = []
    reuse = Reuse(recall=lambda key: None, remember=lambda key, text, provenance: kept.append(key))
    build_graph(collect(TEXTS), encoder, bound, tight, reuse)
    assert kept == []


def test_the_key_changes_with_everything_that_the_text_depends_on(asking):
    base = (NodeType.TOPIC, ["a", "b"], "m", "p")
    others = [
        (NodeType.RELATION, ["a", "b"], "m", "p"),
        (NodeType.TOPIC, ["b", "a"], "m", "p"),
        (NodeType.TOPIC, ["ab"], "m", "p"),
        (NodeType.TOPIC, ["a", "b"], "n", "p"),
        (NodeType.TOPIC, ["a", "b"], "m", "q"),
    ]
    assert len({abstraction_key(*arguments) for arguments in [base, *others]}) == 6
    _, bound = asking(lambda request: "x")
    before = bound.key(NodeType.TOPIC, ["a", "b"])
    signature = bound.module.describe_group.signature
    bound.module.describe_group.signature = signature.with_instructions("Say it shorter.")
    assert bound.key(NodeType.TOPIC, ["a", "b"]) != before
