"""Who writes instructions anew, from examples of what a role was given, what it returned, and what came of it.

A model that knows how is asked to rewrite the whole instruction. A small one often only copies what it is shown; it is
then asked for a rule, from the examples alone, and the rule is put at the end of the present instruction.

Optimisers ask at a temperature, to have different proposals for one prompt; a search would then end elsewhere each
time, and one that was killed could not go on. Here every proposal is asked for at temperature 0, and a prompt that
comes again carries a number. So the same search asks the same things, and what was answered is kept like any other
completion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dspy
import pydantic
from dspy.utils.exceptions import AdapterParseError
from rapidfuzz import fuzz

from optimize.measure import EngineFault
from optimize.prompts.trials import RunBroke
from programs.content_key import content_key
from programs.errors import ModelUnavailable, TransportFault
from programs.models.adapter import TemplateAdapter
from programs.models.engines.engine import ChatMessage, ChatRequest, Completion, Engine, Likelihood, WrappedEngine
from programs.models.language_model import LanguageModel
from programs.models.plain_text import line_lookalikes
from programs.progress import report
from signatures.proposal import Proposal

PROPOSAL_TOKENS = 640
"""Tokens that a proposal may have: more than its characters take, so that a model that rambles is not cut off."""
AGAIN = "(Proposal {number}: write another one than before.)"
CUT = "\n[…]\n"
STEP = "proposing"
INSTRUCTION_CHARACTERS = 2000
"""Three times what the longest of the method's own have. Every call pays for them."""
RULE_CHARACTERS = 300
FIELD_CHARACTERS = 1200
"""Characters of one input or output that a proposer is shown of an example."""
OUTCOME = "What came of it"
COPY = 95.0
"""Likeness, of 100, from which an instruction is a copy of another."""


class Rewrite(Proposal):
    """A proposed instruction."""

    instruction: str = pydantic.Field(
        min_length=1, max_length=INSTRUCTION_CHARACTERS, description="the better instruction"
    )


class Lesson(Proposal):
    """A rule to add. To have named the mistake first gives it something to be about."""

    mistake: str = pydantic.Field(
        min_length=1, max_length=RULE_CHARACTERS, description="what is wrong with what was returned"
    )
    rule: str = pydantic.Field(
        min_length=1, max_length=RULE_CHARACTERS, description="what the role should write instead, on any question"
    )


class RewriteInstruction(dspy.Signature):  # type: ignore[misc]
    """You improve the instruction of one role in a retrieval system. You are shown the role's present instruction, and examples of what the role was given, what it returned, and what came of it.

    Write a better instruction for the same role. Keep what the present one demands and forbids. Add the general rules that the examples show to be missing, in plain and short sentences that a small model can follow. The role will meet other questions, so name no question, answer, person or title from the examples. How the output is written down is said elsewhere."""  # noqa: E501

    role: str = dspy.InputField(desc="Role")
    instruction: str = dspy.InputField(desc="Present instruction")
    examples: str = dspy.InputField(desc="Examples")
    rewrite: Rewrite = dspy.OutputField()


class DrawLesson(dspy.Signature):  # type: ignore[misc]
    """You teach one role of a retrieval system. You are shown what the role was given, what it returned, and what came of it.

    Say what the role does wrong, and give it one rule, in plain and short words, that helps on other questions too. Name no question, answer, person or title from the examples."""  # noqa: E501

    role: str = dspy.InputField(desc="Role")
    examples: str = dspy.InputField(desc="Examples")
    lesson: Lesson = dspy.OutputField()


class Proposer:
    """Proposes instructions. The model is one of proposals, which can be repeated."""

    def __init__(self, lm: LanguageModel) -> None:
        self._lm = lm
        self._rewrite = dspy.Predict(RewriteInstruction)
        self._teach = dspy.Predict(DrawLesson)

    def __call__(self, role: str, instruction: str, examples: Sequence[Mapping[str, Any]]) -> str | None:
        """Propose an instruction; None where nothing that came back can be used."""
        shown = "\n\n".join(_shown(number, example) for number, example in enumerate(examples, start=1))
        said = self._ask(self._rewrite, role=role, instruction=instruction, examples=shown)
        written = "" if said is None else said.rewrite.instruction.strip()
        if written and fuzz.ratio(_flat(written), _flat(instruction)) < COPY:
            return written
        said = self._ask(self._teach, role=role, examples=shown)
        rule = "" if said is None else said.lesson.rule.strip()
        return f"{instruction}\n\n{rule}" if rule and rule not in instruction else None

    def _ask(self, predictor: dspy.Predict, **inputs: str) -> dspy.Prediction | None:
        with dspy.context(adapter=TemplateAdapter(), disable_history=True):
            try:
                return predictor(lm=self._lm, config={"max_tokens": PROPOSAL_TOKENS}, **inputs)
            except (AdapterParseError, dspy.ContextWindowExceededError):
                return None


def _flat(text: str) -> str:
    return " ".join(text.split())


def _shown(number: int, example: Mapping[str, Any]) -> str:
    """Write an example: what went in, what came out, and what is said about it. None of these reads as another one."""
    said = {**example["Inputs"], "Returned": example["Generated Outputs"]}
    lines = line_lookalikes(*said, OUTCOME, openings=("Example 1",))
    parts = [f"{name}: {lines.break_up(_cut(str(value)))}" for name, value in said.items()]
    return "\n".join([f"Example {number}", *parts, f"{OUTCOME}: {lines.break_up(str(example['Feedback']))}"])


def _cut(text: str) -> str:
    half = FIELD_CHARACTERS // 2
    return text if len(text) <= FIELD_CHARACTERS else text[:half] + CUT + text[-half:]


@dataclass(frozen=True)
class ProposingEngine(WrappedEngine):
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


def repeatable_model(engine: Engine) -> LanguageModel:
    """Make a model of proposals. It is one of its own, because optimisers change the temperature of what they hold."""
    return LanguageModel(ProposingEngine(engine), max_tokens=PROPOSAL_TOKENS)


def _numbered(messages: tuple[ChatMessage, ...], number: int) -> tuple[ChatMessage, ...]:
    last = messages[-1]
    return (*messages[:-1], replace(last, content=f"{last.content}\n\n{AGAIN.format(number=number)}"))
