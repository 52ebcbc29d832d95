"""How steps are written down for the steps after them."""

from __future__ import annotations

from collections.abc import Sequence

from programs.methods.prompt_room import head
from programs.models.encoders.encoder import Encoder
from programs.models.plain_text import line_lookalikes
from signatures.baselines.react import Step

NONE_YET = "none"
STEP_LINES = line_lookalikes("Thought 1", "Action 1", "Observation 1")


def rendered(number: int, step: Step | None, observation: str) -> str:
    """Write a step as the published trajectories do. Nothing that it quotes reads as another step.

    One that could not be read is its observation alone.
    """
    observed = f"Observation {number}: {STEP_LINES.break_up(observation)}"
    if step is None:
        return observed
    thought, argument = map(STEP_LINES.break_up, (step.thought, step.argument))
    return f"Thought {number}: {thought}\nAction {number}: {step.action}[{argument}]\n{observed}"


def latest(trajectory: Sequence[str], budget: int, encoder: Encoder) -> str:
    """Show as many of the last steps as fit; the very last is cut at its end where it does not fit alone."""
    shown: list[str] = []
    left = budget
    for step in reversed(trajectory):
        spans = encoder.spans(step)
        if len(spans) > left:
            if not shown:
                shown.append(head(step, left, encoder))
            break
        shown.append(step)
        left -= len(spans)
    return "\n".join(reversed(shown))
