"""A `dspy.LM` that was handed in as the engine: what it is sent, and what of its answer is kept."""

from __future__ import annotations

from types import SimpleNamespace

import dspy

from programs.models.engines.dspy_engine import DspyEngine
from programs.models.engines.engine import ChatMessage, ChatRequest
from programs.models.language_model import LanguageModel
from tests.support.hostile import CONTROL_TOKENS


class Echo(dspy.BaseLM):
    """Says what it is asked, with half a character after it."""

    def __init__(self):
        super().__init__("echo")
        self.sent = []

    def forward(self, prompt=None, messages=None, **options):
        self.sent.append(messages)
        message = SimpleNamespace(content=messages[-1]["content"] + "\ud800")
        return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=None)


def test_I13_no_control_token_of_a_text_reaches_it_and_a_quotation_is_of_the_texts_characters():
    echo = Echo()
    text = "".join(CONTROL_TOKENS)
    request = ChatRequest((ChatMessage("user", text),), max_tokens=64)
    said = LanguageModel(DspyEngine(echo, 4096)).metered.run(request).text
    assert not [token for token in CONTROL_TOKENS if token in echo.sent[0][0]["content"]]
    assert said == text + "\ufffd"
