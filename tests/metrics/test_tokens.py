"""RET: the paper's identities, and the same numbers that a record was written with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.tokens import KAPPA, reader_equivalent, reader_equivalent_by_size, token_scores, tokens_by_phase
from programs.models.ledger import Call
from programs.record import reader_equivalent as as_recorded
from tests.metrics.records import a_call, a_record, an_incomplete_record

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


@pytest.mark.parametrize(("aux", "expected"), [(3246.7, 2797.6), (3571.3, 2983.1)])
def test_ret_gives_the_papers_two_carrier_identities(aux, expected):
    assert reader_equivalent(537.8, aux, 708.0) == pytest.approx(expected, abs=0.05)


def test_kappa_is_the_papers_unless_another_is_given():
    assert pytest.approx(8 / 14) == KAPPA
    assert reader_equivalent(100, 70, 70) == pytest.approx(180)
    assert reader_equivalent(100, 70, 70, kappa=0.5) == 170
    assert reader_equivalent(100, 70, 70, kappa=1) == 240


def test_tokens_of_a_phase_are_input_and_output_of_its_calls():
    counted = [a_call("reader", prompt_tokens=7, completion_tokens=2), a_call("index"), a_call("index"), a_call()]
    assert tokens_by_phase(counted) == {"reader": 9, "aux": 100, "index": 200}
    assert tokens_by_phase([]) == {"reader": 0, "aux": 0, "index": 0}


def test_by_size_each_call_weighs_as_its_own_model_does():
    counted = [a_call("reader"), a_call(parameters=7), a_call("index", parameters=28)]
    assert reader_equivalent_by_size(counted) == pytest.approx(100 + 50 + 200)
    assert reader_equivalent_by_size(counted, reader_parameters=7) == pytest.approx(2 * (100 + 50 + 200))


def test_by_size_is_not_defined_where_a_size_is_not_known():
    assert reader_equivalent_by_size([a_call("reader"), a_call(parameters=None)]) is None
    assert reader_equivalent_by_size([a_call("reader", parameters=None)]) is None
    assert reader_equivalent_by_size([a_call()]) is None


@given(calls)
def test_when_every_call_is_the_readers_model_ret_is_the_number_of_tokens(counted):
    same = [call | {"parameters": 14} for call in counted]
    total = sum(tokens_by_phase(same).values())
    assert reader_equivalent_by_size(same, 14) == pytest.approx(total)
    assert reader_equivalent(**tokens_by_phase(same), kappa=1) == pytest.approx(total)


@given(calls)
def test_counted_again_from_the_calls_ret_is_what_the_record_was_written_with(counted):
    recorded = as_recorded([Call.model_validate(call) for call in counted], 14)
    assert reader_equivalent(**tokens_by_phase(counted)) == pytest.approx(recorded.paper)
    again = reader_equivalent_by_size(counted, 14)
    assert (again is None) == (recorded.parameters is None)
    assert again is None or again == pytest.approx(recorded.parameters)


def test_a_records_tokens_are_counted_from_its_calls_and_not_taken_from_its_sums():
    wrong = a_record(tokens={"reader": 1, "aux": 1, "index": 1}, ret={"paper": 1.0, "parameters": 1.0})
    assert token_scores(wrong) == pytest.approx(
        {
            "ret": 100 + 300 * 8 / 14,
            "ret_parameters": 250,
            "tokens_reader": 100,
            "tokens_aux": 200,
            "tokens_index": 100,
            "encoder_tokens": 50,
        }
    )


def test_where_the_reader_was_not_called_ret_by_size_is_the_recorded_one():
    assert token_scores(an_incomplete_record(ret={"paper": 0.0, "parameters": 123.0}))["ret_parameters"] == 123.0
    assert "ret_parameters" not in token_scores(an_incomplete_record(ret={"paper": 0.0, "parameters": None}))
