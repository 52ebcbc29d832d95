"""An engine that is asked for proposals, so that a search can be repeated.

Optimisers ask at a temperature, to have different proposals for one prompt; a search would then end elsewhere each
time, and one that was killed could not go on. Here every proposal is asked for at temperature 0, and a prompt that
comes again carries a number. So the same search asks the same things, and what was answered is kept like any other
completion.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from optimize.ending import RunBroke
from optimize.measure import EngineFault
from programs.errors import ModelUnavailable
from programs.keys import content_key
from programs.models.backend import (
    Backend,
    BackendAround,
    ChatMessage,
    ChatRequest,
    Completion,
    Likelihood,
    TransportFault,
)
from programs.models.language_model import LanguageModel
from programs.progress import report

PROPOSAL_TOKENS = 640
"""Tokens that a proposal may have: more than its characters take, so that a model that rambles is not cut off."""
AGAIN = "(Proposal {number}: write another one than before.)"
CUT = "\n[…]\n"
STEP = "proposing"


@dataclass(frozen=True)
class ProposingBackend(BackendAround):
    """An engine that is asked for proposals: always at temperature 0, never twice the same, never more than fits."""

    _asked: Counter[str] = field(default_factory=Counter, compare=False)

    def complete(self, request: ChatRequest) -> Completion:
        """Ask."""
        name = content_key(*(part for message in request.messages for part in (message.role, message.content)))
        self._asked[name] += 1
        messages = request.messages if self._asked[name] == 1 else _numbered(request.messages, self._asked[name])
        context = self.capabilities.context_length
        most = min(request.max_tokens, context // 4)
        report(STEP, 0, 1)
        try:
            fitting = self._fit(messages, context - most)
            return self.engine.complete(replace(request, messages=fitting, temperature=0.0, max_tokens=most))
        except (TransportFault, ModelUnavailable) as fault:
            raise RunBroke from gone(fault)
        finally:
            report(STEP, 1, 1)

    def likelihood(self, context: str, continuation: str) -> Likelihood:
        """Score as the engine does."""
        return self.engine.likelihood(context, continuation)

    def _fit(self, messages: tuple[ChatMessage, ...], room: int) -> tuple[ChatMessage, ...]:
        """Take from the middle of the longest message, where examples stand, until the prompt fits."""
        while (tokens := self.count_tokens(messages)) > room:
            at = max(range(len(messages)), key=lambda i: len(messages[i].content))
            text = messages[at].content
            half = int(len(text) * min(0.9, room / tokens)) // 2
            if half < len(CUT):
                break
            shorter = replace(messages[at], content=text[:half] + CUT + text[-half:])
            messages = (*messages[:at], shorter, *messages[at + 1 :])
        return messages


def gone(fault: Exception) -> EngineFault:
    """Say that there is no one to propose. Optimisers would take it for a proposal that failed, and go on asking."""
    told = EngineFault(f"the proposer could not be used ({fault}); what was answered is kept: mend it, then go on")
    told.__cause__ = fault
    return told


def proposing(backend: Backend) -> LanguageModel:
    """Make a model of proposals. It is one of its own, because optimisers change the temperature of what they hold."""
    return LanguageModel(ProposingBackend(backend), max_tokens=PROPOSAL_TOKENS)


def _numbered(messages: tuple[ChatMessage, ...], number: int) -> tuple[ChatMessage, ...]:
    last = messages[-1]
    return (*messages[:-1], replace(last, content=f"{last.content}\n\n{AGAIN.format(number=number)}"))
