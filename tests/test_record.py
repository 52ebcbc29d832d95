"""The record: a published, versioned schema, and RET as the paper reckons it."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from programs.models.ledger import Call, Phase
from programs.record import RECORD_VERSION, reader_equivalent, record_schema


def call(phase: Phase, tokens: float, parameters: int | None) -> Call:
    return Call(
        query_id="q",
        role="r",
        phase=phase,
        model="m",
        parameters=parameters,
        prompt_tokens=int(tokens),
        completion_tokens=0,
        seconds=0.0,
        finish_reason="stop",
        truncated=False,
        prompt_hash="",
    )


def test_the_schema_file_is_the_one_that_the_code_writes():
    shipped = json.loads((resources.files("programs") / "record.schema.json").read_text(encoding="utf-8"))
    assert shipped == record_schema(), "write programs/record.schema.json anew, and raise RECORD_VERSION if it broke"
    assert shipped["properties"]["version"]["const"] == RECORD_VERSION


@pytest.mark.parametrize(("aux", "expected"), [(32467, 27976), (35713, 29831)])
def test_ret_gives_the_papers_carrier_values(aux, expected):
    # Ten times the paper's means, so that they are whole tokens: 537.8 reader, 3246.7 or 3571.3 aux, 708.0 index.
    calls = [call(Phase.READER, 5378, 14), call(Phase.AUX, aux, 7), call(Phase.INDEX, 7080, 7)]
    assert reader_equivalent(calls, 14).paper == pytest.approx(expected, abs=1.0)


def test_ret_by_parameters_weighs_each_call_by_its_own_model():
    calls = [call(Phase.READER, 100, 14), call(Phase.AUX, 100, 7), call(Phase.INDEX, 100, 28)]
    assert reader_equivalent(calls, 14).parameters == pytest.approx(100 + 50 + 200)
    assert reader_equivalent([call(Phase.AUX, 100, None)], 14).parameters is None
