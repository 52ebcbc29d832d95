"""Token counts that no model can have made never come to stand in a record."""

import pytest

from programs.models.engines.wire import read_completion
from tests.metrics.records import a_record


def answer(prompt, completion):
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}


@pytest.mark.parametrize(("prompt", "completion"), [(-1, 1), (1, -5), (10**16, 1), (1, 10**400)])
def test_a_server_that_counts_absurdly_has_not_answered(prompt, completion):
    with pytest.raises(ValueError, match="count of tokens"):
        read_completion(answer(prompt, completion))


def test_a_record_has_none_either():
    plain = a_record().model_dump(mode="json")
    for absurd in (-1, 10**400):
        with pytest.raises(ValueError, match="encoder_tokens"):
            type(a_record()).model_validate(plain | {"encoder_tokens": absurd})
