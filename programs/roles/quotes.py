"""The most telling sentences of texts, for a Planner that revises and a Navigator that follows a chain."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from programs.roles.view import View

RECORDS = 3
"""Records quoted: the Retriever's best."""
SENTENCES = 2
"""Sentences quoted at a time."""
LONGEST = 300
"""Characters of a sentence that are quoted, since not every text has full stops."""

END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def quotes(view: View) -> list[str]:
    """Quote the best records' best sentences, for the plan's wants."""
    assert view.state.plan is not None  # only a state with a plan is described
    wanted = " ".join((view.query, *view.state.plan.targets))
    return [f"- {' … '.join(telling(view, wanted, [record.text]))}" for record in view.state.evidence[:RECORDS]]


def telling(view: View, wanted: str, texts: Sequence[str]) -> list[str]:
    """Pick the sentences that bear most on what is wanted, in the order in which they stand."""
    sentences = [part.strip()[:LONGEST] for text in texts for part in END.split(text) if part.strip()]
    if len(sentences) <= SENTENCES:
        return sentences
    similarity = view.tools.encoder.encode_passages(sentences) @ view.tools.query_vector(wanted)
    chosen = np.argsort(-similarity, kind="stable")[:SENTENCES]
    return [sentences[i] for i in sorted(chosen)]
