"""RET: the paper's identities, and what each call weighs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.record import QueryRecord, ReaderEquivalentTokens
from metrics.scores import ScoreTable
from metrics.tokens import token_scores, tokens_by_phase
from metrics.weights import weight
from tests.metrics.records import a_baseline_record, a_call, a_record, an_incomplete_record

calls = st.lists(
    st.builds(
        lambda phase, prompt, completion, size: a_call(
            phase, prompt_tokens=prompt, completion_tokens=completion, parameters=14 if phase == "reader" else size
        ),
        st.sampled_from(["reader", "aux", "index"]),
        st.integers(0, 5000),
        st.integers(0, 500),
        st.sampled_from([None, 1, 7, 14, 32]),
    ),
    max_size=8,
)


AUXILIARY, READER = "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-14B-Instruct"


def spent(phase, tokens):
    """A call of the paper's pair, with the exact sizes of its checkpoints."""
    model, size = (READER, 14_770_033_664) if phase == "reader" else (AUXILIARY, 7_615_616_512)
    return a_call(phase, model=model, parameters=size, prompt_tokens=tokens, completion_tokens=0)


def ret(calls, reader="large", size=14):
    return ReaderEquivalentTokens.of(calls, reader, size)


def as_once_written(record, paper, parameters):
    """A record of before weights were written, read again."""
    written = record.model_dump(mode="json") | {"ret": {"paper": paper, "parameters": parameters}}
    return QueryRecord.model_validate(written)


@pytest.mark.parametrize(("aux", "expected"), [(32467, 27976), (35713, 29831)])
def test_ret_gives_the_papers_two_carrier_identities(aux, expected):
    tenfold = [spent("reader", 5378), spent("aux", aux), spent("index", 7080)]
    assert ret(tenfold, READER, 14_770_033_664).tokens == pytest.approx(expected, abs=0.5)


def test_kappa_is_the_papers_for_its_pair_alone_whatever_is_known_of_their_sizes():
    for size in (None, 14_770_033_664):
        found = ret([spent("reader", 100), spent("aux", 70), spent("index", 70)], READER, size)
        assert found.tokens == pytest.approx(180)
        assert found.weights == {READER: 1.0, AUXILIARY: pytest.approx(8 / 14)}
    assert weight("qwen2.5-7b-instruct", None, "Qwen2.5-14B", None) == pytest.approx(8 / 14)
    assert weight("Qwen/Qwen2.5-Coder-7B-Instruct", 7, READER, 28) == 0.25
    assert weight("one-model", 7, "one-model", 14) == 1.0


def test_tokens_of_a_phase_are_input_and_output_of_its_calls():
    counted = [a_call("reader", prompt_tokens=7, completion_tokens=2), a_call("index"), a_call("index"), a_call()]
    assert dict(tokens_by_phase(counted)) == {"reader": 9, "aux": 100, "index": 200}
    assert dict(tokens_by_phase([])) == {"reader": 0, "aux": 0, "index": 0}


def test_each_call_weighs_as_its_own_model_does():
    counted = [a_call("reader"), a_call(parameters=7), a_call("index", model="huge", parameters=28)]
    assert ret(counted).tokens == pytest.approx(100 + 50 + 200)
    assert ret(counted).weights == {"large": 1.0, "small": 0.5, "huge": 2.0}
    assert ret(counted, "other", 7).tokens == pytest.approx(2 * (100 + 50 + 200))


@pytest.mark.parametrize("size", [None, 0])
def test_ret_is_not_known_where_a_size_that_it_takes_is_not(size):
    assert ret([a_call("reader"), a_call(parameters=size)]) == ReaderEquivalentTokens(
        tokens=None, weights={"large": 1.0, "small": None}
    )
    assert ret([a_call("reader"), a_call()], "large", size).tokens is None


@given(calls, st.sampled_from([None, 1, 14]))
def test_when_every_call_is_the_readers_model_ret_is_the_number_of_tokens(counted, size):
    same = [call.model_copy(update={"model": "large", "parameters": size}) for call in counted]
    assert ret(same, "large", size).tokens == sum(dict(tokens_by_phase(same)).values())


@given(calls)
def test_ret_of_the_papers_pair_is_the_sum_of_the_phases_weighed(counted):
    pair = [call.model_copy(update={"model": READER if call.phase == "reader" else AUXILIARY}) for call in counted]
    tokens = tokens_by_phase(pair)
    assert ret(pair, READER, None).tokens == pytest.approx(tokens.reader + 8 / 14 * (tokens.aux + tokens.index))


def test_a_records_scores_are_what_it_states():
    assert token_scores(a_record()) == {
        "ret": 250,
        "tokens_reader": 100,
        "tokens_aux": 200,
        "tokens_index": 100,
        "encoder_tokens": 50,
    }
    assert "ret" not in token_scores(a_record(ret={"tokens": None, "weights": {"small": None}}))


def test_a_method_has_no_ret_where_that_of_some_queries_is_not_known():
    alone = a_baseline_record(calls=[a_call("reader")])
    unknown = a_baseline_record(query_id="q2", ret={"tokens": None, "weights": {"small": None}})
    assert "ret" in ScoreTable.collect("vanilla", "w", [(alone, None)]).defined
    assert "ret" not in ScoreTable.collect("vanilla", "w", [(alone, None), (unknown, None)]).defined


def test_a_record_of_before_weights_were_written_is_weighed_again_by_its_calls():
    one = [a_call("reader", parameters=None), a_call(model="large", parameters=None)]
    assert as_once_written(a_record(calls=one), 157.1, None).ret.tokens == 200
    pair = [spent("reader", 100), spent("aux", 70)]
    assert as_once_written(a_record(calls=pair), 140.0, 136.1).ret.tokens == pytest.approx(140)
    unread = an_incomplete_record()
    assert as_once_written(unread, 114.3, 123.0).ret.tokens == 123
    assert as_once_written(unread, 114.3, None).ret.tokens is None
    assert QueryRecord.model_validate_json(a_record().model_dump_json()) == a_record()
