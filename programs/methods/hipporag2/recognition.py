"""Recognition memory: of the facts nearest to the question, those that a model recognises as helpful."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from programs.methods.hipporag2.phrase_graph import FactBase
from programs.methods.hipporag2.rank import Scores
from programs.models.plain_text import numbered_items


def nearest_facts(scores: Scores, top: int) -> list[int]:
    """Give the numbers of the best facts, best first, ties in order of mention."""
    return [int(n) for n in np.argsort(-scores, kind="stable")[:top]]


def numbered_facts(base: FactBase, candidates: Sequence[int]) -> str:
    """Show candidates one a line, numbered from 1."""
    return numbered_items((base.text(base.facts[n]) for n in candidates), between="\n")


def recognised(candidates: Sequence[int], numbers: Sequence[int]) -> list[int]:
    """Read the model's numbers back as facts, in the order shown. A number that was not shown is nobody's."""
    chosen = set(numbers)
    return [n for i, n in enumerate(candidates, start=1) if i in chosen]
