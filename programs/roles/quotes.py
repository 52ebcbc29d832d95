"""The most telling passages of texts, for a Planner that revises and a Navigator that follows a chain."""

from __future__ import annotations

import numpy as np

from programs.documents.sentences import sentences_of
from programs.roles.view import View

RECORDS = 3
"""Records quoted: the Retriever's best."""
SENTENCES = 2
"""Sentences quoted together: "It was founded by …" says little without the sentence before it."""
LONGEST = 300
"""Characters of a sentence that are quoted, since not every text has full stops."""


def quotes(view: View) -> list[str]:
    """Quote each of the best records where it bears most on the plan's wants."""
    assert view.state.plan is not None  # only a state with a plan is described
    wanted = " ".join((view.query, *view.state.plan.targets))
    return [telling(view, wanted, record.text) for record in view.state.evidence[:RECORDS]]


def telling(view: View, wanted: str, text: str) -> str:
    """Pick the sentences of a text, next to each other, that bear most on what is wanted."""
    sentences = [sentence[:LONGEST] for sentence in sentences_of(text)]
    if len(sentences) <= SENTENCES:
        return " ".join(sentences)
    windows = [" ".join(sentences[i : i + SENTENCES]) for i in range(len(sentences) - SENTENCES + 1)]
    similarity = view.tools.encoder.encode_passages(windows) @ view.tools.query_vector(wanted)
    return windows[int(np.argmax(similarity))]
