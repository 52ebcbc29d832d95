"""Trajectories over documents that do not exist, shown before every step as the published prompt shows six.

They are DSPy demonstrations, a step each with the steps before it, and not part of the instruction, so that an
optimiser may put others in their place.
"""

from __future__ import annotations

from typing import Literal

import dspy

from programs.methods.react.trajectory import rendered
from signatures.baselines.react import Step

Action = Literal["search", "lookup", "finish"]
Observed = tuple[Step, str]


def step(thought: str, action: Action, argument: str) -> Step:
    """Make a step."""
    return Step(thought=thought, action=action, argument=argument)


def demonstration(question: str, before: tuple[Observed, ...], then: Step) -> dspy.Example:
    """Show what follows some steps."""
    steps = [rendered(number, one, observation) for number, (one, observation) in enumerate(before, start=1)]
    return dspy.Example(question=question, trajectory="\n".join(steps), step=then)


BRIDGE = "In which town was the founder of the Tarvel Glassworks born?"
FOUND_COMPANY = (
    step("I need to know who founded the Tarvel Glassworks.", "search", "Tarvel Glassworks"),
    "[1] The Tarvel Glassworks made lamps from 1871. It was founded by Odile Senn.",
)
NEXT_HOP = step("Odile Senn founded it. I need to know where she was born.", "search", "Odile Senn")
FOUND_FOUNDER = (
    NEXT_HOP,
    "[1] Odile Senn (1840–1902) was a glassblower from Grauwik.\n[2] Hugo Senn wrote plays.",
)

LOOKUP = "Who paid for the roof of the Merrow Hall?"
FOUND_HALL = (
    step("I need to find the Merrow Hall.", "search", "Merrow Hall"),
    "[1] Merrow Hall stands by the canal. It was opened in 1926 as a market.",
)

COMPARISON = "Which is older, the Pell Bridge or the Anzel Lighthouse?"
FOUND_BRIDGE = (
    step("I need the year of each. First the Pell Bridge.", "search", "Pell Bridge"),
    "[1] The Pell Bridge was finished in 1934.",
)
FOUND_LIGHTHOUSE = (
    step("The bridge is of 1934. I need the year of the lighthouse.", "search", "Anzel Lighthouse"),
    "[1] The Anzel Lighthouse was first lit in 1888.\n[2] Anzel is an island.",
)

DEMONSTRATIONS = (
    demonstration(BRIDGE, (FOUND_COMPANY,), NEXT_HOP),
    demonstration(
        BRIDGE, (FOUND_COMPANY, FOUND_FOUNDER), step("She was from Grauwik. Nothing is missing.", "finish", "Grauwik")
    ),
    demonstration(
        LOOKUP, (FOUND_HALL,), step("The passages do not show the roof yet. I look for the word.", "lookup", "roof")
    ),
    demonstration(
        COMPARISON,
        (FOUND_BRIDGE, FOUND_LIGHTHOUSE),
        step("1888 is before 1934, so the lighthouse is older.", "finish", "the Anzel Lighthouse"),
    ),
)
