"""RET: the paper's identities, and what each call weighs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.tokens import KAPPA, reader_equivalent, token_scores, tokens_by_phase
from tests.metrics.records import a_call, a_record, an_incomplete_record, changed

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


def spent(phase, tokens):
    return a_call(phase, prompt_tokens=tokens, completion_tokens=0)


@pytest.mark.parametrize(("aux", "expected"), [(32467, 27976), (35713, 29831)])
def test_ret_gives_the_papers_two_carrier_identities(aux, expected):
    tenfold = [spent("reader", 5378), spent("aux", aux), spent("index", 7080)]
    assert reader_equivalent(tenfold, None).paper == pytest.approx(expected, abs=0.5)


def test_kappa_is_the_papers():
    assert pytest.approx(8 / 14) == KAPPA
    assert reader_equivalent([spent("reader", 100), spent("aux", 70), spent("index", 70)], None).paper == 180


def test_tokens_of_a_phase_are_input_and_output_of_its_calls():
    counted = [a_call("reader", prompt_tokens=7, completion_tokens=2), a_call("index"), a_call("index"), a_call()]
    assert dict(tokens_by_phase(counted)) == {"reader": 9, "aux": 100, "index": 200}
    assert dict(tokens_by_phase([])) == {"reader": 0, "aux": 0, "index": 0}


def test_by_size_each_call_weighs_as_its_own_model_does():
    counted = [a_call("reader"), a_call(parameters=7), a_call("index", parameters=28)]
    assert reader_equivalent(counted, 14).parameters == pytest.approx(100 + 50 + 200)
    assert reader_equivalent(counted, 7).parameters == pytest.approx(2 * (100 + 50 + 200))


@pytest.mark.parametrize("size", [None, 0])
def test_by_size_is_not_defined_where_a_size_is_not_known(size):
    assert reader_equivalent([a_call("reader"), a_call(parameters=None)], 14).parameters is None
    assert reader_equivalent([a_call("reader")], size).parameters is None


@given(calls)
def test_when_every_call_is_the_readers_model_ret_is_the_number_of_tokens(counted):
    same = [changed(call, parameters=14) for call in counted]
    total = sum(dict(tokens_by_phase(same)).values())
    assert reader_equivalent(same, 14).parameters == pytest.approx(total)


@given(calls)
def test_ret_is_the_sum_of_the_phases_weighed(counted):
    tokens = tokens_by_phase(counted)
    expected = tokens.reader + KAPPA * (tokens.aux + tokens.index)
    assert reader_equivalent(counted, 14).paper == pytest.approx(expected)


def test_a_records_scores_are_what_it_states():
    assert token_scores(a_record()) == pytest.approx(
        {
            "ret": 100 + 300 * 8 / 14,
            "ret_parameters": 250,
            "tokens_reader": 100,
            "tokens_aux": 200,
            "tokens_index": 100,
            "encoder_tokens": 50,
        }
    )


def test_without_a_size_a_query_has_no_ret_by_size():
    assert token_scores(an_incomplete_record(ret={"paper": 0.0, "parameters": 123.0}))["ret_parameters"] == 123.0
    assert "ret_parameters" not in token_scores(an_incomplete_record(ret={"paper": 0.0, "parameters": None}))
