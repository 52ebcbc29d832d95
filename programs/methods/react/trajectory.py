"""How steps are written down for the steps after them."""

from __future__ import annotations

from collections.abc import Sequence

from programs.methods.prompt_room import head
from programs.models.encoders.encoder import Encoder
from signatures.baselines.react import Step

NONE_YET = "none"


def rendered(number: int, step: Step | None, observation: str) -> str:
    """Write a step as the published trajectories do. One that could not be read is its observation alone."""
    said = (
        "" if step is None else f"Thought {number}: {step.thought}\nAction {number}: {step.action}[{step.argument}]\n"
    )
    return f"{said}Observation {number}: {observation}"


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
