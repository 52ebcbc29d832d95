"""Search spaces: every key is a setting, every value is accepted, and what is marked online changes no index."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimize.measure import measure
from optimize.parameters.sampling import distributions
from optimize.shared_indexes import SharedIndexes
from optimize.spaces import space_of
from programs.errors import InputError
from programs.methods.registry import specs
from programs.methods.space import Filling, Near, OneOf, Parameter, Real, Space, Whole, value_at
from programs.models.engines.dry_run import FILLER, rehearsed
from programs.selection.configured import ConfiguredMethod
from programs.settings import load_settings, preset_names
from programs.workloads.query import Example, Query, Reference
from tests.support.runs import ASKS_MODELS, scripted_runtime
from tests.support.worlds import make_collection, small_settings

SPACES = {name: one.space for name, one in specs().items() if one.base is None}
PARAMETERS = [(method, parameter) for method, space in SPACES.items() for parameter in space]


def name_of(value):
    return value.key if isinstance(value, Parameter) else str(value)


def draws(space, end):
    """Draw every parameter at its first value, or at its last."""
    return {parameter.key: parameter.ends()[end] for parameter in space.parameters}


def test_every_method_has_a_space():
    assert all(SPACES.values())


@pytest.mark.parametrize(("method", "parameter"), PARAMETERS, ids=name_of)
def test_a_parameter_is_a_setting_and_is_accepted_at_its_ends(method, parameter):
    settings = load_settings("embedded")
    space = Space.fit([parameter], settings)
    for end in (0, 1):
        parameters = space.settings_of(draws(space, end))
        applied = space.applied(parameters)
        if parameters[parameter.key] != 0 or not parameter.key.startswith("navigation.scorer."):
            assert value_at(applied, parameter.key) == parameters[parameter.key]
        changed = {key: value for key, value in applied.model_dump().items() if value != settings.model_dump()[key]}
        assert set(changed) <= {parameter.key.split(".")[0]}


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize("method", SPACES)
def test_a_space_has_room_for_every_preset_and_its_ends_go_together(method, preset):
    settings = load_settings(preset)
    space = space_of(method, settings)
    assert space.applied(space.start_settings()) == settings
    known = distributions(space)
    for key, value in space.start().items():
        assert known[key]._contains(known[key].to_internal_repr(value)), key
    for end in (0, 1):
        space.applied(space.settings_of(draws(space, end)))


@pytest.mark.parametrize("method", SPACES)
def test_what_would_draw_the_preset_gives_the_preset(method):
    space = space_of(method, load_settings("embedded"))
    assert space.settings_of(space.start()) == space.start_settings()


def test_a_search_that_asks_no_cross_encoder_does_not_vary_what_needs_one():
    keys = space_of("staterag", load_settings("paper")).described()
    assert not {"verifier.rule", "verifier.threshold", "navigation.scorer.cross-encoder", "retriever.minimum"} & set(
        keys
    )


def test_a_cheap_search_leaves_alone_what_makes_an_index_ask_a_model_again():
    settings = load_settings("embedded")
    assert "raptor.leaf_tokens" in space_of("raptor", settings).described()
    assert list(space_of("raptor", settings, cheap=True).described()) == ["raptor.top_k", "raptor.max_tokens"]
    assert "tam.region_tokens" in space_of("vanilla", settings, cheap=True).described()
    asks = load_settings("embedded", ["tam.abstraction=model"])
    assert "tam.region_tokens" not in space_of("staterag", asks, cheap=True).described()
    assert "tam.region_tokens" in space_of("staterag", settings, cheap=True).described()


def test_what_is_fixed_is_not_varied():
    keys = [
        parameter.key for parameter in space_of("vanilla", load_settings("embedded"), fixed={"vanilla.k"}).parameters
    ]
    assert keys == ["tam.region_tokens", "tam.overlap_tokens", "tam.boundaries"]


def test_an_unknown_method_and_an_unknown_setting_are_refused():
    with pytest.raises(InputError, match="no method 'nobody'"):
        space_of("nobody", load_settings("embedded"))
    with pytest.raises(InputError, match=r"no setting 'tam\.nothing'"):
        Space.fit([Whole("tam.nothing", 1, 2)], load_settings("embedded"))


def test_settings_that_do_not_go_together_are_refused_with_their_name():
    settings = load_settings("embedded")
    parameters = [OneOf("graphrag.chunk_tokens", (50,)), OneOf("graphrag.chunk_overlap", (60,))]
    space = Space.fit(parameters, settings)
    with pytest.raises(InputError, match="chunk_overlap 60 must be less"):
        space.applied({"graphrag.chunk_tokens": 50, "graphrag.chunk_overlap": 60})


def test_a_space_makes_room_for_a_preset_outside_of_it():
    settings = load_settings("embedded", ["tam.region_tokens=300", "vanilla.k=40", "retriever.minimum=0.9"])
    space = Space.fit([*SPACES["vanilla"], Real("retriever.minimum", 0.0, 0.5)], settings)
    described = space.described()
    assert described["tam.region_tokens"] == [96, 128, 192, 256, 384, 300]
    assert described["retriever.minimum"] == {"low": 0.0, "high": 0.9}
    assert space.settings_of(space.start())["vanilla.k"] == 40


def test_a_threshold_is_searched_near_the_one_that_suits_the_encoder():
    settings = load_settings("embedded", ["encoder.relation_threshold=0.35"])
    assert Near("encoder.relation_threshold", 0.1).fitted(settings).described() == {"low": 0.25, "high": 0.45}


@given(part=st.floats(0.3, 1.2), tokens=st.integers(16, 600))
def test_as_many_records_are_kept_as_fill_their_part_of_the_budget(part, tokens):
    settings = load_settings("embedded", [f"tam.region_tokens={tokens}"])
    space = Space.fit([Filling("vanilla.k", 0.3, 1.2)], settings)
    count = space.settings_of({"vanilla.k": part})["vanilla.k"]
    budget = settings.lifecycle.reader_budget
    assert count == 1 or abs(count * tokens - part * budget) <= tokens / 2


def test_the_number_of_records_follows_the_length_that_was_drawn_with_it():
    space = space_of("vanilla", load_settings("embedded", ["lifecycle.reader_budget=2048"]))
    drawn = {"tam.overlap_tokens": 0, "tam.boundaries": "tokens", "vanilla.k": 0.5}
    assert [space.settings_of({"tam.region_tokens": t, **drawn})["vanilla.k"] for t in (128, 256)] == [8, 4]


def test_a_scorer_without_weight_is_not_named_and_one_with_weight_is():
    space = space_of("staterag", load_settings("embedded"))
    key = "navigation.scorer.cross-encoder"
    parameters = space.start_settings()
    assert parameters[key] == 0
    assert space.applied(parameters).navigation.scorer == {"embedding": 1.0}
    assert space.applied({**parameters, key: 0.5}).navigation.scorer == {"embedding": 1.0, "cross-encoder": 0.5}
    named = load_settings("embedded", ['navigation.scorer={"embedding": 1.0, "cross-encoder": 0.3}'])
    assert space_of("staterag", named).applied({key: 0}).navigation.scorer == {"embedding": 1.0, "cross-encoder": 0}


def says_words_of_the_prompt(request):
    """Fill whatever shape is asked for with words that stand in the prompt, other ones for another prompt."""
    text = request.messages[-1].content
    words = re.findall(r"\w{3,}", text)
    at = int(hashlib.sha256(text.encode()).hexdigest(), 16) % len(words)
    if request.schema is None:
        return " ".join(words[at : at + 5])
    return rehearsed(request, request.schema, costliest=False).replace(FILLER, " ".join(words[at : at + 2]))


@pytest.mark.parametrize("method", SPACES)
def test_what_is_marked_online_changes_no_index(method):
    collection = make_collection(sources=5, words=600)
    query = Query(query_id="q", question="Which dome holds item1x2?", collection=collection, position=0)
    examples = [Example(query=query, reference=Reference(query_id="q", answers=("x",)))]
    settings = small_settings(**ASKS_MODELS, lifecycle={"answer": False, "bypass_leaves": 0, "reader_budget": 200})
    space = space_of(method, settings)
    online = [parameter for parameter in space.parameters if parameter.online]
    assert online
    varied = Space.fit(online, settings)
    low, high = (ConfiguredMethod(method, varied.applied(varied.settings_of(draws(varied, end)))) for end in (0, 1))
    shared = SharedIndexes(examples, varied.online)
    runtime = scripted_runtime(settings, script=says_words_of_the_prompt)
    first = measure(low, runtime, examples, indexes=shared.trial(low))
    found = measure(high, runtime, examples, indexes=shared.trial(high))
    fresh = measure(high, scripted_runtime(settings, script=says_words_of_the_prompt), examples)
    assert [record.evidence for record in found.records] == [record.evidence for record in fresh.records]
    assert found.values("ret").tolist() == fresh.values("ret").tolist()
    assert [record.tokens.index for record in first.records] == [record.tokens.index for record in fresh.records]
