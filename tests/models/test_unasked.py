"""A model that is named for a plan and never asked."""

from __future__ import annotations

import pytest

from programs.errors import ModelUnavailable
from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.engines.unasked import UnaskedEngine

ENGINE = UnaskedEngine("some-model", 7, 512, lambda text: len(text.split()))
MESSAGES = (ChatMessage("system", "be brief"), ChatMessage("user", "where is the lens"))


def test_it_counts_by_the_tokenizer_that_it_is_given():
    assert ENGINE.count_tokens(MESSAGES) == 6
    assert ENGINE.capabilities.context_length == 512


def test_it_refuses_to_be_asked():
    with pytest.raises(ModelUnavailable, match="'some-model' was named for a plan alone"):
        ENGINE.complete(ChatRequest(MESSAGES, max_tokens=8))
    with pytest.raises(ModelUnavailable, match="plan alone"):
        ENGINE.likelihood("a", "b")
    ENGINE.close()
